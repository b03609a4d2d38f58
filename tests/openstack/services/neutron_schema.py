"""Makes Neutron's tables on SQLite: neutron_schema.py --config-file NEUTRON.CONF

``neutron-db-manage upgrade heads`` cannot: SQLite has no ALTER of constraints. So they are made from the models and
stamped as the newest, and the rows that a migration inserts are added: the rules of default security groups.
"""
# mypy: disable-error-code="import-not-found"

import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa
from neutron.common import config
from neutron.db.migration.models import head  # noqa: F401 - loads every model
from neutron_lib.db import model_base
from oslo_config import cfg
from oslo_db import options as db_options


def main(arguments: list[str]) -> None:
    config.register_common_config_options()
    db_options.set_defaults(cfg.CONF)
    config.init(arguments)
    engine = sa.create_engine(cfg.CONF.database.connection)
    tables = model_base.BASEV2.metadata.tables
    model_base.BASEV2.metadata.create_all(engine)
    with engine.begin() as connection:
        insert_default_rules(connection, tables["securitygroupdefaultrules"], tables["standardattributes"])
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("PRAGMA journal_mode = WAL"))
    subprocess.run([Path(sys.executable).with_name("neutron-db-manage"), *arguments, "stamp", "heads"], check=True)


def insert_default_rules(connection: sa.Connection, rules: sa.Table, attributes: sa.Table) -> None:
    for direction in ("egress", "ingress"):
        for ethertype in ("IPv4", "IPv6"):
            attribute = {"resource_type": rules.name, "revision_number": 0}
            made = connection.execute(attributes.insert().values(**attribute)).inserted_primary_key
            assert made is not None
            rule = {
                "id": str(uuid4()),
                "standard_attr_id": made[0],
                "direction": direction,
                "ethertype": ethertype,
                "used_in_default_sg": True,
                "used_in_non_default_sg": direction == "egress",
            }
            if direction == "ingress":
                rule["remote_group_id"] = "PARENT"
            connection.execute(rules.insert().values(**rule))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Alembic's entry: runs the migrations in the transaction of the connection that it is given."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()

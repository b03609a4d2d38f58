"""Neutron's API where there is no Keystone: a token is the name of the role that its bearer has.

Keystone's middleware puts the roles of a token into headers; this does the same. Neutron's noauth pipeline adds admin.
"""
# mypy: disable-error-code="import-not-found"

from collections.abc import Callable, Iterable
from typing import Any

from neutron.wsgi.api import application as neutron


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    environ["HTTP_X_ROLES"] = environ.get("HTTP_X_AUTH_TOKEN", "")
    answer: Iterable[bytes] = neutron(environ, start_response)
    return answer

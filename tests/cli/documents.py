"""The JSON Schemas in docs/, to hold answers against."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

SCHEMAS = Path(__file__).parents[2] / "docs/schemas"


@cache
def _validator(name: str) -> Draft202012Validator:
    resources = [
        (path.name, DRAFT202012.create_resource(json.loads(path.read_text()))) for path in SCHEMAS.glob("*.schema.json")
    ]
    registry: Registry[Any] = Registry().with_resources(resources)
    return Draft202012Validator(registry[f"{name}.schema.json"].contents, registry=registry)


def validated(name: str, text: str) -> Any:
    """The one document in the text, which keeps to the schema of this name."""
    document = json.loads(text)
    valid(name, document)
    return document


def valid(name: str, document: object) -> None:
    """Fails unless the document keeps to the schema of this name."""
    _validator(name).validate(document)

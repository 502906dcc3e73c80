"""The generated parts of the client are those of this code."""

import agent_runtime_client
import service
from client.generator.document import current_document, described
from client.generator.names import model_names
from client.generator.types import Types


def test_every_operation_has_a_method() -> None:
    whole = current_document()
    found = described(whole, Types(whole["components"]["schemas"]))

    documented = [name for item in whole["paths"].values() for name in item]
    assert len(found) == len(documented)
    names = [(each.area, each.method_name) for each in found]
    assert len(set(names)) == len(names)


def test_schemas_with_other_fields_keep_their_names() -> None:
    names = model_names(
        {
            "RuleResource": {"properties": {"a": {"type": "string"}}},
            "RuleBody": {"properties": {"a": {"type": "string"}}},
            "PriceResource": {"properties": {"a": {"type": "string"}}},
            "PriceBody": {"properties": {"b": {"type": "string"}}},
        }
    )

    assert names == {
        "RuleResource": "Rule",
        "RuleBody": "Rule",
        "PriceResource": "PriceResource",
        "PriceBody": "PriceBody",
    }


def test_the_version_is_that_of_the_api() -> None:
    assert agent_runtime_client.__version__ == service.__version__

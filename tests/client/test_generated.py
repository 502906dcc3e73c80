"""The generated parts of the client are those of this code."""

import subprocess
import sys
from pathlib import Path

import pytest

import agent_runtime_client
import service
from client.generator.document import current_document, described
from client.generator.names import model_names
from client.generator.types import Types
from client.generator.write import files

ROOT = Path(__file__).parents[2]


@pytest.mark.processes
def test_the_client_is_current() -> None:
    made = files(ROOT)

    old = [
        str(path)
        for path, content in made.items()
        if not (ROOT / path).exists() or (ROOT / path).read_text("utf-8") != content
    ]
    assert old == [], "run: make contract"


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


@pytest.mark.processes
def test_importing_loads_no_http() -> None:
    script = "import agent_runtime_client, sys; print('httpx' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT / "client",
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "False"

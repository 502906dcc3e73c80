"""The console's lists of pages, and its forms, are complete."""

import re
from pathlib import Path

import pytest

from service.app import operations
from tests.support.console.browser.pages import PAGES
from tests.unit.console.test_files import OWN, STATIC

# The forms that replace a resource: what they leave out is cleared. By the path of the
# operation, the file, and how its request begins.
FORMS = {
    "/api/mcp/agents/{agent_id}/tools": ("app/rule_editor.js", "path, { body"),
    "/api/secrets/{name}": ("pages/secret.js", "path, { body"),
    "/api/users/{user_id}/name": ("pages/user.js", "`${path}/name`, { body"),
    "/api/catalog/agents/{agent_id}": (
        "pages/agent.js",
        "`/api/catalog/agents/${agent.id}`, { body",
    ),
    "/api/mcp/agents/{agent_id}/gateway": (
        "app/tool_search.js",
        "path, { body",
    ),
    "/api/mcp/connectors/{id}": (
        "pages/connector.js",
        "`/api/mcp/connectors/${connector.id}`, { body",
    ),
    "/api/mcp/connectors/{id}/gateway": (
        "pages/connector.js",
        "`/api/mcp/connectors/${connector.id}/gateway`, { body",
    ),
    "/api/mcp/connectors/{id}/credential": (
        "pages/connector.js",
        "`/api/mcp/connectors/${connector.id}/credential`, { body",
    ),
}
# Operations that take no Idempotency-Key, and aren't called by the console.
NOT_IN_CONSOLE = {
    "/mcp/agents/{agent_id}",
    "/mcp/agents/{agent_id}/",
    "/mcp/agents/{agent_id}/connectors/{connector_id}",
    "/mcp/agents/{agent_id}/connectors/{connector_id}/",
    *(each.path for each in operations() if each.path.startswith("/llm/")),
    "/v1/traces",
    "/v1/logs",
    "/v1/metrics",
    "/api/llm-router/reprice",
}
# They take one, and the console sends none: a preview changes nothing.
RECORDS_NOTHING = {each.path for each in operations() if each.path.endswith("/preview")}
# Tried under two addresses each.
ALSO = {"explain-all"}


def test_every_page_is_tried_in_the_browser() -> None:
    listed = (STATIC / "app/pages.js").read_text("utf-8")
    modules = set(re.findall(r'(?:module|one): "([^"]+)"', listed))
    files = {path.stem for path in (STATIC / "pages").glob("*.js")}

    assert modules == files, "PAGES of app/pages.js has other pages than pages/"
    assert modules == PAGES.keys() - ALSO, (
        "each page of one thing, `one` of app/pages.js, needs an example in"
        " tests/support/console/browser/pages.py; then run make console-checks"
    )


def test_every_form_that_replaces_something_is_known() -> None:
    sent = sum(
        len(re.findall(r'call\("PUT", [^{]+, \{ body', script_without_braces(path)))
        for path in OWN
        if path.suffix == ".js"
    )
    assert sent == len(FORMS), (
        "add the form to FORMS of tests/unit/console/test_forms.py"
    )


def script_without_braces(path: Path) -> str:
    """Return a script without the ``${...}`` in its texts."""
    return re.sub(r"\$\{[^{}]*\}", "", path.read_text("utf-8"))


@pytest.mark.parametrize("path", FORMS)
def test_a_form_sends_every_field_of_what_it_replaces(path: str) -> None:
    (operation,) = [
        each for each in operations() if (each.method, each.path) == ("PUT", path)
    ]
    file, request = FORMS[path]
    functions = re.split(
        r"^(?=(?:export )?(?:async )?function )",
        (STATIC / file).read_text("utf-8"),
        flags=re.MULTILINE,
    )
    (form,) = [each for each in functions if f'call("PUT", {request}' in each]
    assert operation.body is not None
    fields = operation.body.model_fields

    missing = [name for name in fields if not re.search(rf"\b{name}\b\s*[:,}}]", form)]
    assert missing == [], f"the form of {file} sends a PUT without, which clears them"


def test_the_console_knows_which_operations_take_no_idempotency_key() -> None:
    script = (STATIC / "app/api.js").read_text("utf-8")
    (pattern,) = re.findall(r"const KEYLESS = /(.+)/;", script)
    changing = [each for each in operations() if each.method != "GET"]
    keyless = {each.path for each in changing if not each.idempotent_key}
    found = {each.path for each in changing if re.search(pattern, each.path)}

    assert found == keyless - NOT_IN_CONSOLE | RECORDS_NOTHING

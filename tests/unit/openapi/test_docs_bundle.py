"""The files of the page at /docs."""

import hashlib
import json
import re
from pathlib import Path

from service.http import openapi

PAGE = Path(openapi.__file__).parent.parent / "docs_page"
SWAGGER_UI = PAGE / "vendor/swagger_ui"
# Used by Swagger UI for OAuth scopes only, or by nothing.
UNUSED = re.compile(r"\.debug-grid|\.checkbox")


def test_the_bundle_is_that_of_the_recorded_version() -> None:
    source = json.loads((SWAGGER_UI / "SOURCE.json").read_text())
    found = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in SWAGGER_UI.iterdir()
        if file.name != "SOURCE.json"
    }

    assert found == source["sha256"]
    assert source["package"] == "swagger-ui-dist"
    assert source["integrity"].startswith("sha512-")
    assert f'"{source["version"]}"' in (SWAGGER_UI / "swagger-ui-bundle.js").read_text()
    assert "Apache License" in (SWAGGER_UI / "LICENSE").read_text()


def test_icons_that_the_policy_forbids_are_replaced() -> None:
    style = (SWAGGER_UI / "swagger-ui.css").read_text()
    replaced = (PAGE / "page.css").read_text().replace("::after", ":after")
    with_data_image = [
        selector.strip().removeprefix("html.dark-mode ")
        for rule in re.findall(r"([^{}]+)\{[^{}]*url\([\"']?data:[^{}]*\}", style)
        for selector in rule.split(",")
    ]
    used = {name for name in with_data_image if not UNUSED.search(name)}

    assert used
    for selector in used - {".swagger-ui .download-contents button"}:
        assert selector in replaced


def test_the_token_is_not_kept() -> None:
    script = (PAGE / "page.js").read_text()

    assert "persistAuthorization: false" in script
    assert not re.search("Storage|cookie", script)

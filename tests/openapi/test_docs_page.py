"""The page at /docs: its files, their origin, and the policy that limits them."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient

from service.http import openapi

PAGE = Path(openapi.__file__).parent.parent / "docs_page"
SWAGGER_UI = PAGE / "vendor/swagger_ui"
ASSETS = [
    *("arrow.svg", "copy.svg", "icon.svg", "page.css", "page.js"),
    *("swagger-ui-bundle.js", "swagger-ui.css"),
]
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


async def test_the_page_loads_files_of_the_service_only(client: TestClient) -> None:
    page = await client.get("/docs")
    text = await page.text()
    referred = set(re.findall(r'(?:src|href)="([^#"]+)"', text))
    script = (PAGE / "page.js").read_text()
    style = (PAGE / "page.css").read_text()
    pictures = {f"docs/{name}" for name in re.findall(r'url\("(.+?)"\)', style)}

    assert (page.status, page.content_type) == (200, "text/html")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bon\w+=|\bstyle=", text)
    assert referred | pictures == {"openapi.json", *(f"docs/{name}" for name in ASSETS)}
    assert "://" not in script + style + text


@pytest.mark.parametrize("path", ["/docs", *(f"/docs/{name}" for name in ASSETS)])
async def test_a_file_has_the_policy_and_an_etag(client: TestClient, path: str) -> None:
    first = await client.get(path)
    again = await client.get(path, headers={"If-None-Match": first.headers["ETag"]})

    assert first.status == 200
    assert (again.status, await again.read()) == (304, b"")
    for response in (first, again):
        assert response.headers["Content-Security-Policy"] == (
            "default-src 'self'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'; object-src 'none'"
        )
        assert response.headers["Cache-Control"] == "no-cache"
        assert response.headers["Referrer-Policy"] == "no-referrer"


async def test_the_page_has_no_other_files(client: TestClient) -> None:
    for path in (
        "/docs/index.html",
        "/docs/LICENSE",
        "/docs/..%2Fopenapi%2Fexamples.json",
        "/docs/x",
    ):
        assert (await client.get(path)).status in (400, 404)


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

"""The page at /docs: its files, their origin, and the policy that limits them."""

import re
from pathlib import Path

from aiohttp.test_utils import TestClient

from service.http import openapi

PAGE = Path(openapi.__file__).parent.parent / "docs_page"
ASSETS = [
    *("arrow.svg", "copy.svg", "icon.svg", "page.css", "page.js"),
    *("swagger-ui-bundle.js", "swagger-ui.css"),
]


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


async def test_a_file_has_the_policy_and_an_etag(client: TestClient) -> None:
    for path in ("/docs", *(f"/docs/{name}" for name in ASSETS)):
        first = await client.get(path)
        again = await client.get(path, headers={"If-None-Match": first.headers["ETag"]})

        assert (first.status, again.status) == (200, 304), path
        assert await again.read() == b"", path
        for response in (first, again):
            assert response.headers["Content-Security-Policy"] == (
                "default-src 'self'; base-uri 'none'; form-action 'none'; "
                "frame-ancestors 'none'; object-src 'none'"
            ), path
            assert response.headers["Cache-Control"] == "no-cache", path
            assert response.headers["Referrer-Policy"] == "no-referrer", path


async def test_the_page_has_no_other_files(client: TestClient) -> None:
    for path in (
        "/docs/index.html",
        "/docs/LICENSE",
        "/docs/..%2Fopenapi%2Fexamples.json",
        "/docs/x",
    ):
        assert (await client.get(path)).status in (400, 404)

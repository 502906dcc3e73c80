"""The console's files over HTTP: their policy, their ETag, and no others."""

from aiohttp.test_utils import TestClient

from service.console.files import CONTENT_POLICY, static_files


async def test_every_file_has_the_policy_and_an_etag(client: TestClient) -> None:
    names = ["/console", *(f"/console/{each}" for each in static_files())]
    names.remove("/console/index.html")
    for name in names:
        first = await client.get(name)
        etag = first.headers["ETag"]
        again = await client.get(name, headers={"If-None-Match": etag})
        assert (first.status, again.status) == (200, 304), name
        for response in (first, again):
            assert response.headers["Content-Security-Policy"] == CONTENT_POLICY
            kept = "max-age=86400" if name.endswith(".png") else "no-cache"
            assert response.headers["Cache-Control"] == kept


async def test_no_other_file_can_be_named(client: TestClient) -> None:
    for path in (
        "/console/app/..%2f..%2fcodes.py",
        "/console/vendor/SOURCE.json",
        "/console/vendor/preact.LICENSE.txt",
        "/console/pages/nothing.js",
        "/console/elsewhere/main.js",
    ):
        assert (await client.get(path)).status == 404, path


async def test_files_are_sent_compressed_to_those_who_take_it(
    client: TestClient,
) -> None:
    plain = await client.get("/console/app/main.js", headers={"Accept-Encoding": "br"})
    packed = await client.get("/console/app/main.js")

    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"

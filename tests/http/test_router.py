"""The router finds what aiohttp finds, and leaves everything else to aiohttp."""

import re
from itertools import product
from unittest.mock import AsyncMock

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from service.app import operations
from service.http.operation import add_operations
from service.http.router import Router, routed

METHODS = ("DELETE", "GET", "HEAD", "POST", "PUT")
ID = "0f0e6a3c-6a53-4f0e-9d0b-2f6f3a9f1d11"


@pytest.fixture(scope="module")
def app() -> web.Application:
    app = web.Application()
    add_operations(app, operations())
    return app


@pytest.fixture(scope="module")
def router(app: web.Application) -> Router:
    return Router(app, AsyncMock())


def with_ids(path: str) -> str:
    return re.sub(r"\{\w+\}", ID, path)


def with_words() -> set[str]:
    """Return operations' paths with a word of another path in place of a parameter."""
    whole = {operation.path for operation in operations()}
    found = set()
    for path, other in product(whole, whole):
        segments, words = path.split("/"), other.split("/")
        for number, word in enumerate(words[: len(segments)]):
            is_parameter = segments[number].startswith("{")
            if is_parameter and segments[:number] == words[:number]:
                replaced = [*segments[:number], word, *segments[number + 1 :]]
                found.add(with_ids("/".join(replaced)))
    return found


@pytest.mark.slow
async def test_each_operation_is_found_as_by_aiohttp(
    app: web.Application, router: Router
) -> None:
    for operation in operations():
        request = make_mocked_request(operation.method, with_ids(operation.path))
        theirs = await app.router.resolve(request)

        ours = router.find(request.method, request.path)

        assert ours is not None, operation.path
        found, values = ours
        assert found.route is theirs.route
        assert dict(zip(found.names, values, strict=True)) == dict(theirs)


@pytest.mark.slow
async def test_no_path_leads_elsewhere_than_by_aiohttp(
    app: web.Application, router: Router
) -> None:
    found_by_both = 0
    for path, method in product(with_words(), METHODS):
        theirs = await app.router.resolve(make_mocked_request(method, path))

        # Where it finds nothing, aiohttp is asked.
        ours = router.find(method, path)

        if ours is not None:
            assert ours[0].route is theirs.route, (method, path)
            found_by_both += 1
    assert found_by_both


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/api",
        "/api/users/",
        "/api/users//name",
        "/api/users/a%2Fb",
        "/api/users/%61",
        "/api/users/{user_id}",
        f"/api/users/{ID}/nothing",
        f"//api/users/{ID}",
    ],
)
async def test_other_paths_are_left_to_aiohttp(router: Router, path: str) -> None:
    assert router.find("GET", path) is None


async def test_a_client_that_waits_to_continue_is_left_to_aiohttp(
    app: web.Application,
) -> None:
    library = AsyncMock()
    request = make_mocked_request(
        "PUT", f"/api/mcp/agents/{ID}/tools", headers={"Expect": "100-continue"}
    )

    await routed(app, library)(request)

    library.assert_awaited_once_with(request)


async def test_without_the_library_s_attribute_it_routes_everything(
    app: web.Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = AsyncMock()
    monkeypatch.delattr(web.Request, "_match_info")

    assert routed(app, library) is library

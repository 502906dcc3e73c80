"""Answers of the API that a test chooses itself: refused, empty, late."""

import re
from typing import Any

from playwright.sync_api import Page, Route


def _at(path: str) -> "re.Pattern[str]":
    return re.compile(re.escape(path) + r"(\?|$)")


def answer(
    page: Page,
    path: str,
    data: Any,
    *,
    status: int = 200,
    text: str = "",
    version: int | None = None,
) -> None:
    """Answer every request of a path with this envelope from now on."""
    body = {"data": data, "message": text, "status_code": status}
    headers = {} if version is None else {"ETag": f'"{version}"'}
    page.route(
        _at(path),
        lambda route: route.fulfill(status=status, json=body, headers=headers),
    )


def refuse(page: Page, path: str, status: int, code: str, text: str) -> None:
    data = {"code": code, "errors": [], "request_id": "request-of-the-test"}
    answer(page, path, data, status=status, text=text)


def without_a_cookie(route: Route) -> None:
    """Sign in as a browser does that keeps no cookie: who is signed in stays so."""
    if route.request.method == "POST":
        route.fulfill(json={"data": {}, "message": "signed in", "status_code": 200})
    else:
        body = {"data": {"signed_in": False}, "message": "session"}
        route.fulfill(json=body | {"status_code": 200})


def as_usual(page: Page, path: str) -> None:
    """Let the service itself answer again."""
    page.unroute(_at(path))


class Held:
    """Requests of a path that get no answer until they are released."""

    def __init__(self, page: Page, path: str) -> None:
        self._page = page
        self._path = path
        self._routes: list[Route] = []
        page.route(_at(path), self._hold)

    def _hold(self, route: Route) -> None:
        self._routes.append(route)

    def release(self) -> None:
        for route in self._routes:
            route.continue_()
        as_usual(self._page, self._path)

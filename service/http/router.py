"""Find a request's operation by the segments of its path.

aiohttp tries the pattern of one resource after another, and puts the middlewares around
the handler for each request anew: for the replacement of tool rules, a tenth of all.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from aiohttp import hdrs, web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Found:
    """A route, the names of its parameters, and its handler behind the middlewares."""

    route: web.AbstractRoute
    names: tuple[str, ...]
    handler: Handler


@dataclass(slots=True)
class Node:
    """What may follow the segments so far: words, or one parameter; or nothing."""

    words: "dict[str, Node]" = field(default_factory=dict)
    parameter: "Node | None" = None
    routes: dict[str, Found] = field(default_factory=dict)


class Router:
    """Calls the handler of a request whose path and method are those of an operation.

    ``library`` is aiohttp's way, for all others: paths with escapes, unknown ones,
    other methods, and clients that wait for 100 Continue.
    """

    def __init__(self, app: web.Application, library: Handler) -> None:
        self._app = app
        self._library = library
        self._root = Node()
        for route in app.router.routes():
            self._add(route)

    def _add(self, route: web.AbstractRoute) -> None:
        assert route.resource is not None
        node = self._root
        names = []
        for segment in route.resource.canonical.split("/")[1:]:
            if segment.startswith("{"):
                names.append(segment[1:-1])
                if node.parameter is None:
                    node.parameter = Node()
                node = node.parameter
            else:
                node = node.words.setdefault(segment, Node())
        handler: Handler = route.handler
        for middleware in reversed(self._app.middlewares):
            handler = partial(middleware, handler=handler)
        # As in aiohttp, the first one counts.
        node.routes.setdefault(route.method, Found(route, tuple(names), handler))

    def find(self, method: str, path: str) -> tuple[Found, list[str]] | None:
        """Return what answers a method and path, and the values of its parameters."""
        # aiohttp decodes escapes, and matches no braces.
        if "%" in path or "{" in path or "}" in path:
            return None
        node = self._root
        values = []
        for segment in path.split("/")[1:]:
            child = node.words.get(segment)
            if child is None:
                child = node.parameter
                if child is None or not segment:
                    return None
                values.append(segment)
            node = child
        found = node.routes.get(method)
        return (found, values) if found is not None else None

    async def answer(self, request: web.Request) -> web.StreamResponse:
        found = self.find(request.method, request.rel_url.raw_path)
        if found is None or hdrs.EXPECT in request.headers:
            return await self._library(request)
        route, values = found
        match_info = web.UrlMappingMatchInfo(
            dict(zip(route.names, values, strict=True)), route.route
        )
        match_info.add_app(self._app)
        match_info.freeze()
        request._match_info = match_info  # noqa: SLF001 # nothing public sets it
        return await route.handler(request)


def routed(app: web.Application, library: Handler) -> Handler:
    """Return the handler of all requests; ``library`` if that can't be replaced."""
    if not hasattr(web.Request, "_match_info"):
        return library
    return Router(app, library).answer

"""The service's own HTTP server in a test."""

from typing import Any

from aiohttp.test_utils import TestServer

from service.http.overload import ConnectionLimit
from service.http.server import Runner


class Server(TestServer):
    """Runs an application as the service does; aiohttp's would cancel its handlers."""

    async def _make_runner(self, **settings: Any) -> Runner:
        settings["handler_cancellation"] = False
        return Runner(self.app, limit=ConnectionLimit(), **settings)

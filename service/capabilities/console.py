"""The web console."""

from aiohttp import web

from projections.health.routes import console_routes as health
from service.capabilities.declaration import Capability, Process
from service.console.codes import SignInCodes
from service.console.routes import SIGN_IN_CODES
from service.console.routes import routes as console


def _add_resources(app: web.Application, _process: Process) -> None:
    app[SIGN_IN_CODES] = SignInCodes()


CONSOLE = Capability(
    name="console", routes=(console, health), app_resources=_add_resources
)

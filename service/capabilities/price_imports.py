"""Imports of published price lists."""

from aiohttp import web

from service.capabilities.declaration import Capability, Process
from service.price_catalog.imports.routes import IMPORT_RESOURCES
from service.price_catalog.imports.routes import routes as price_imports


def _add_resources(app: web.Application, process: Process) -> None:
    app[IMPORT_RESOURCES] = process.resources


PRICE_IMPORTS = Capability(
    name="price_imports", routes=(price_imports,), app_resources=_add_resources
)

"""Providers, models and their prices over time, and costs computed again."""

import asyncio

from aiohttp import web

from projections.price_catalog.cache import CATALOG_CACHE, CatalogCache
from projections.price_catalog.contract_routes import routes as contract_reads
from projections.price_catalog.history_routes import routes as price_history
from projections.price_catalog.projector import ProviderCatalogProjector
from projections.price_catalog.routes import routes as price_reads
from projections.sessions.repricing_queries import recorded_turns
from service.capabilities.declaration import Capability, Process
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.contract_routes import routes as contract_commands
from service.price_catalog.match_rules import MatchRules
from service.price_catalog.provider import Provider
from service.price_catalog.routes import routes as price_commands
from service.sessions.repricing_routes import ONE_AT_A_TIME, RECORDED_TURNS
from service.sessions.repricing_routes import routes as repricing_commands


def _add_resources(app: web.Application, _process: Process) -> None:
    app[CATALOG_CACHE] = CatalogCache()
    app[RECORDED_TURNS] = recorded_turns
    app[ONE_AT_A_TIME] = asyncio.Lock()


PRICE_CATALOG = Capability(
    name="price_catalog",
    aggregates=(ModelPricing, MatchRules, Provider),
    routes=(
        price_commands,
        contract_commands,
        repricing_commands,
        price_reads,
        price_history,
        contract_reads,
    ),
    projectors=(ProviderCatalogProjector(),),
    app_resources=_add_resources,
)

"""Instruments measure and harm the servers of the integration tests."""

from tests.integration.conftest import (
    bootstrap,
    callers,
    client,
    database_url,
    followed_template,
    frail_broker,
    own_broker,
    postgres,
    resources,
    scenario,
    template,
)

__all__ = [
    "bootstrap",
    "callers",
    "client",
    "database_url",
    "followed_template",
    "frail_broker",
    "own_broker",
    "postgres",
    "resources",
    "scenario",
    "template",
]

"""Instruments measure and harm the servers of the integration tests."""

from tests.integration.conftest import (
    app,
    bootstrap,
    callers,
    client,
    config,
    database_url,
    followed_template,
    followers,
    frail_broker,
    own_broker,
    postgres,
    resources,
    scenario,
    template,
)

__all__ = [
    "app",
    "bootstrap",
    "callers",
    "client",
    "config",
    "database_url",
    "followed_template",
    "followers",
    "frail_broker",
    "own_broker",
    "postgres",
    "resources",
    "scenario",
    "template",
]

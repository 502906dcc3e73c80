"""A runtime that records sessions of an agent that ada manages."""

from tests.integration.sessions.conftest import ada, recorder

__all__ = ["ada", "recorder"]

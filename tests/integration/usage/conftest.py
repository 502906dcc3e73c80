"""A runtime whose usage ada, the manager of its agent, reads."""

from tests.integration.sessions.conftest import ada, readers, recorder, root

__all__ = ["ada", "readers", "recorder", "root"]

"""The Python client of the agent runtime.

Importing it costs next to nothing; HTTP is loaded with the first client.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from agent_runtime_client import errors, models
    from agent_runtime_client._async.client import AsyncAgentRuntime
    from agent_runtime_client._sync.client import AgentRuntime
    from agent_runtime_client.errors import AgentRuntimeError
    from agent_runtime_client.not_given import NOT_GIVEN, NotGiven
    from agent_runtime_client.response import Response
    from agent_runtime_client.secret import Secret

__version__ = "0.1.0"
__all__ = [
    "NOT_GIVEN",
    "AgentRuntime",
    "AgentRuntimeError",
    "AsyncAgentRuntime",
    "NotGiven",
    "Response",
    "Secret",
    "errors",
    "models",
]

_MODULES: Final = {
    "AgentRuntime": "_sync.client",
    "AsyncAgentRuntime": "_async.client",
    "AgentRuntimeError": "errors",
    "NOT_GIVEN": "not_given",
    "NotGiven": "not_given",
    "Response": "response",
    "Secret": "secret",
}


def __getattr__(name: str) -> Any:
    if name in ("errors", "models"):
        return import_module(f"{__name__}.{name}")
    if name not in _MODULES:
        raise AttributeError(f"{__name__} has no {name}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

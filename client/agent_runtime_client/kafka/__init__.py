"""A kit for consumers of the event topic; needs the extra ``kafka``.

Every event once, in order, with its position stored in the transaction of its effect.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from agent_runtime_client.kafka.consumer import EventConsumer, consume
    from agent_runtime_client.kafka.event import Event, StoredPosition

__all__ = ["Event", "EventConsumer", "StoredPosition", "consume"]

# Loaded when used: the relay needs the errors and the topic's end alone.
_MODULES: Final = {
    "Event": "event",
    "EventConsumer": "consumer",
    "StoredPosition": "event",
    "consume": "consumer",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"{__name__} has no {name}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

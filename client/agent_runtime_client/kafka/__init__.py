"""A kit for consumers of the event topic; needs the extra ``kafka``.

Every event once, in order, with its position stored in the transaction of its effect.
"""

from agent_runtime_client.kafka.consumer import EventConsumer, consume
from agent_runtime_client.kafka.event import Event, StoredPosition

__all__ = ["Event", "EventConsumer", "StoredPosition", "consume"]

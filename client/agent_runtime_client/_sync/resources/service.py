"""Probes, metrics and the documents about the API."""
# Made by "make generated"; do not edit.

from typing import Any

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client.models import Readiness
from agent_runtime_client.response import Response


class ServiceResource:
    """Probes, metrics and the documents about the API."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_openapi(self) -> Any:
        """Get the OpenAPI 3.1 document of this API."""
        return self._caller.json(operations.GET_OPENAPI)

    def get_docs(self) -> str:
        """Get a web page that shows this API and calls it."""
        return self._caller.text(operations.GET_DOCS)

    def get_asyncapi(self) -> Any:
        """Get the AsyncAPI 3.0 document of the event topic."""
        return self._caller.json(operations.GET_ASYNCAPI)

    def get_event_schema(self, name: str) -> Any:
        """Get the JSON Schema of one event type and version.

        The name is the message's type without the prefix that all types share.

        :param name: Type and version of an event.
        """
        return self._caller.json(operations.GET_EVENT_SCHEMA, path={"name": name})

    def get_livez(self) -> Response:
        """Check that the process answers.

        Depends on nothing else.
        """
        return self._caller.response(operations.GET_LIVEZ)

    def get_readyz(self) -> Readiness:
        """Check that requests can be answered.

        A stopped follower makes the service degraded, not unready: commands are still
        accepted, and the other read tables stay current. So does one that is more than
        5000 events behind, in whichever process it runs. So does a follower process
        that has ended: all read tables wait until it runs again. A failing trace store
        makes it degraded too: lists are answered without its data; and so does an event
        log that doesn't match its Merkle tree, and whatever keeps checkpoints of it
        from being signed. So do connections to the database that are all in use; then
        `log_position` is null.
        """
        return self._caller.model(operations.GET_READYZ, Readiness)

    def get_metrics(self) -> str:
        """Get metrics in the Prometheus text format.

        Those of the follower process have the label `process="followers"`. They are
        collected at most once a second, for all who ask.
        """
        return self._caller.text(operations.GET_METRICS)

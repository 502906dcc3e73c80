"""One walk through every operation: the document's examples are its answers."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from service.app import operations
from service.http.operation import Operation
from tests.support.callers import Caller, Reply
from tests.support.openapi.kept import check_kept

OPERATIONS = {operation.name: operation for operation in operations()}
REQUEST_ID = "example"
# Not a token of any log: a real one is shown once, and kept by its user alone.
SHOWN_TOKEN = "art_000000000000000000000000000000000000"
SHOWN_AGENT_TOKEN = "agt_000000000000000000000000000000000000"


@dataclass(slots=True)
class Walk:
    """Calls operations by name and keeps each request with its answers.

    ``ids`` are of what it has made, by the names of path parameters.
    """

    caller: Caller
    ids: dict[str, Any] = field(default_factory=dict)
    examples: dict[str, Any] = field(default_factory=dict)
    replies: list[tuple[Operation, Reply]] = field(default_factory=list)
    position: int = 0

    async def call(
        self,
        operation_name: str,
        /,
        body: Any = None,
        query: dict[str, Any] | None = None,
        **path: Any,
    ) -> Reply:
        """Call an operation with parameters of ``path``, the others from ``ids``."""
        operation = OPERATIONS[operation_name]
        path = {name: {**self.ids, **path}[name] for name in operation.path_types}
        url = operation.path.format(**path)
        if query:
            url += "?" + urlencode(query)
        headers = {"X_Request_Id": REQUEST_ID}
        if operation.min_position:
            headers["X_Min_Position"] = str(self.position)
        reply = await self.caller.call(operation.method, url, body, **headers)
        assert reply.status < 300, (operation_name, reply.body)
        if operation.method != "GET" and "X-Event-Position" in reply.headers:
            self.position = reply.position
        await check_kept(self.caller, operation, url, body, reply)
        self.replies.append((operation, reply))
        self._keep(operation_name, body, query, path, reply)
        return reply

    def _keep(
        self,
        name: str,
        body: Any,
        query: dict[str, Any] | None,
        path: dict[str, Any],
        reply: Reply,
    ) -> None:
        example = self.examples.setdefault(name, {"answers": {}})
        for key, value in (("path", path), ("query", query), ("body", body)):
            if value and key not in example:
                example[key] = value
        example["answers"].setdefault(str(reply.status), _shown(reply))


def _shown(reply: Reply) -> Any:
    data = reply.data
    if isinstance(data, dict) and str(data.get("token", "")).startswith("art_"):
        data = {**data, "token": SHOWN_TOKEN}
    if isinstance(data, dict) and str(data.get("token", "")).startswith("agt_"):
        data = {**data, "token": SHOWN_AGENT_TOKEN}
    return {"data": data, "message": reply.message, "status_code": reply.status}

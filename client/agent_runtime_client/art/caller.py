"""Calls operations for the command line: answers stay as the API gave them."""

import json
import re
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import httpx

from agent_runtime_client._sync.caller import Caller
from agent_runtime_client.art.waiting import showing_wait
from agent_runtime_client.log_memory import LogMemory
from agent_runtime_client.operation import Call, Operation
from agent_runtime_client.options import Options
from agent_runtime_client.response import Response
from agent_runtime_client.secret import Secret

# Changes nothing. The whole path is compared, as a secret may be named "preview".
PREVIEW: Final = re.compile(
    r"POST /api/(mcp/agents/[^/]+/tools|agents/[^/]+/llm-routing"
    r"|llm-router/tiers|llm-router/presets/[^/]+)/preview"
)


class Fields(dict[str, Any]):
    """A JSON object whose fields are attributes too, as pages read them."""

    def __getattr__(self, name: str) -> Any:
        try:
            value = self[name]
        except KeyError:
            raise AttributeError(f"the answer has no {name}") from None
        return Fields(value) if isinstance(value, dict) else value


class Listing(NamedTuple):
    """How many pages of a list were asked for, and since when."""

    pages: int
    since: float


class PlainCaller(Caller):
    """Returns the data of answers without converting them.

    ``before`` is called with each command before it is sent.
    """

    def __init__(
        self,
        http: httpx.Client,
        base_url: str,
        token: Secret | None,
        options: Options,
        before: Callable[[Call], None],
    ) -> None:
        super().__init__(http, base_url, token, options, LogMemory())
        self._before = before
        self.last: Response | None = None
        self._listings: dict[str, Listing] = {}

    def model(self, operation: Operation, kind: Any, **given: Any) -> Any:  # noqa: ARG002 # as the base takes it
        return Fields(self.data(operation, **given))

    def models(self, operation: Operation, kind: Any, **given: Any) -> Any:  # noqa: ARG002 # likewise
        return self.data(operation, **given)

    def response(self, operation: Operation, **given: Any) -> Any:
        self.data(operation, **given)

    def envelope(self, operation: Operation, **given: Any) -> tuple[Any, Response]:
        data, self.last = super().envelope(operation, **given)
        return data, self.last

    def send(self, call: Call, *, stream: bool = False) -> httpx.Response:
        if call.operation.is_command and not _changes_nothing(call):
            self._before(call)
        if stream:
            return super().send(call, stream=True)
        page, since = 0, time.monotonic()
        if "after" in call.query:
            page, since = self._listings.get(call.what, (page, since))
        self._listings[call.what] = Listing(page + 1, since)
        what = f"{call.what}, page {page + 1}" if page else call.what
        with showing_wait(what, since=since):
            return super().send(call)


def _changes_nothing(call: Call) -> bool:
    if PREVIEW.fullmatch(f"{call.operation.method} {call.path}"):
        return True
    if call.query.get("dry_run") == "true":
        return True
    return _asks_for_a_dry_run(call.content)


def _asks_for_a_dry_run(body: Any) -> bool:
    # Price lists are long: most bodies needn't be read.
    if not isinstance(body, bytes) or b'"dry_run"' not in body:
        return False
    try:
        sent = json.loads(body)
    except ValueError:
        return False
    return isinstance(sent, dict) and sent.get("dry_run") is True

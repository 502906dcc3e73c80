"""Calls operations: one request, its attempts, and its answer."""
# Made by "make generated"; do not edit.

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar, Unpack
from uuid import uuid4

import httpx

from agent_runtime_client.attempts import Attempts
from agent_runtime_client.encoding import body_of, parse_json
from agent_runtime_client.errors import LogEpochChangedError
from agent_runtime_client.failures import Failure, no_answer, refusal, unreadable
from agent_runtime_client.log_memory import LogMemory
from agent_runtime_client.model import Model
from agent_runtime_client.operation import Call, Operation, filled_path, query_of
from agent_runtime_client.options import OptionChanges, Options
from agent_runtime_client.response import Response, ResponseList
from agent_runtime_client.secret import Secret

M = TypeVar("M", bound=Model)

# The service writes into an idle stream every 15 seconds.
SILENCE_MAX_S: Final = 45.0

logger: Final = logging.getLogger("agent_runtime_client")


class Caller:
    """Sends calls over HTTP; the resources of a client share one."""

    def __init__(
        self,
        http: httpx.Client,
        base_url: str,
        token: Secret | None,
        options: Options,
        memory: LogMemory,
    ) -> None:
        self.http = http
        self.base_url = base_url
        self.token = token
        self.options = options
        self.memory = memory

    def with_options(self, **changes: Unpack[OptionChanges]) -> "Caller":
        """Return a caller of the same service and memory with other options."""
        options = replace(self.options, **changes)
        return Caller(self.http, self.base_url, self.token, options, self.memory)

    def model(self, operation: Operation, kind: type[M], **given: Any) -> M:
        """Call an operation whose data is an object."""
        data, response = self.envelope(operation, **given)
        return kind.decode(data, response)

    def models(
        self, operation: Operation, kind: type[M], **given: Any
    ) -> ResponseList[M]:
        """Call an operation whose data is a list of objects."""
        data, response = self.envelope(operation, **given)
        return ResponseList([kind.decode(each) for each in data], response)

    def response(self, operation: Operation, **given: Any) -> Response:
        """Call an operation without data."""
        _, response = self.envelope(operation, **given)
        return response

    def data(self, operation: Operation, **given: Any) -> Any:
        """Call an operation for its data as it is."""
        data, _ = self.envelope(operation, **given)
        return data

    def json(self, operation: Operation, **given: Any) -> Any:
        """Call an operation whose answer is JSON without an envelope."""
        call = self.call(operation, **given)
        answer = self.send(call)
        try:
            return parse_json(answer.content)
        except ValueError:
            raise unreadable(call, answer.status_code) from None

    def text(self, operation: Operation, **given: Any) -> str:
        """Call an operation whose answer is text."""
        text: str = (self.send(self.call(operation, **given))).text
        return text

    def content(self, operation: Operation, **given: Any) -> bytes:
        """Call an operation whose answer is neither JSON nor text."""
        content: bytes = (self.send(self.call(operation, **given))).content
        return content

    def envelope(self, operation: Operation, **given: Any) -> tuple[Any, Response]:
        """Call an operation; return its data and what came with it."""
        call = self.call(operation, **given)
        answer = self.send(call)
        try:
            envelope = parse_json(answer.content)
            data, message = envelope["data"], envelope["message"]
        except (ValueError, KeyError, TypeError):
            raise unreadable(call, answer.status_code) from None
        return data, Response(
            answer.status_code, message, answer.headers, call.idempotency_key
        )

    def call(  # noqa: PLR0913 # the parts of a request
        self,
        operation: Operation,
        *,
        path: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        content: bytes | None = None,
        content_type: str = "application/json",
        if_match: int | str | None = None,
        refuse_warnings: bool = False,
        idempotency_key: str | None = None,
    ) -> Call:
        """Prepare a call; a command that takes a key gets one for all attempts."""
        headers: dict[str, str] = {**self.options.headers}
        if body is not None:
            content = body_of(body)
        if content is not None:
            headers["Content-Type"] = content_type
        if if_match is not None:
            text = str(if_match)
            headers["If-Match"] = text if text.endswith('"') else f'"{text}"'
        if refuse_warnings:
            headers["Prefer"] = "handling=strict"
        if operation.takes_key:
            idempotency_key = idempotency_key or str(uuid4())
            headers["Idempotency-Key"] = idempotency_key
        return Call(
            operation,
            filled_path(operation.path, path) if path else operation.path,
            query_of(query) if query else {},
            content,
            headers,
            idempotency_key,
        )

    def send(self, call: Call, *, stream: bool = False) -> httpx.Response:
        """Send a call until it succeeds.

        The body of a stream is still to be read, and the response to be closed.

        :raises AgentRuntimeError: it was refused, or no attempt was answered
        """
        attempts = Attempts(self.options)
        while True:
            answer: httpx.Response | None = None
            try:
                request = self._request(call, attempts.timeout_s, stream=stream)
                answer = self.http.send(request, stream=stream)
                if answer.is_success:
                    self._learn(call, answer)
                    return answer
                answer.read()
                failure = refusal(
                    call, answer.status_code, answer.headers, answer.content
                )
            except httpx.RequestError as error:
                failure = no_answer(call, error)
            self._note(call, failure, answer)
            time.sleep(attempts.pause_s(failure))

    def _request(self, call: Call, timeout_s: float, *, stream: bool) -> httpx.Request:
        headers = dict(call.headers)
        operation = call.operation
        if not operation.public:
            if self.token is not None:
                headers["Authorization"] = f"Bearer {self.token.reveal()}"
            if self.memory.epoch is not None:
                headers["X-Log-Epoch"] = self.memory.epoch
        if operation.takes_min_position:
            own = self.memory.position if self.options.reads_own_writes else 0
            if position := max(own, self.options.min_position):
                headers["X-Min-Position"] = str(position)
        timeout = httpx.Timeout(timeout_s)
        if stream:
            timeout = httpx.Timeout(timeout_s, read=max(timeout_s, SILENCE_MAX_S))
        return self.http.build_request(
            operation.method,
            self.base_url + call.path,
            params=call.query or None,
            content=call.content,
            headers=headers,
            timeout=timeout,
        )

    def _learn(self, call: Call, answer: httpx.Response) -> None:
        response = Response(answer.status_code, "", answer.headers)
        self.memory.learn(response, is_command=call.operation.is_command)
        logger.debug("%s: %s", call.operation.name, answer.status_code)

    def _note(
        self, call: Call, failure: Failure, answer: httpx.Response | None
    ) -> None:
        if isinstance(failure.error, LogEpochChangedError) and answer is not None:
            self.memory.forget(answer.headers.get("X-Log-Epoch"))
        logger.debug("%s: %s", call.operation.name, failure.error)

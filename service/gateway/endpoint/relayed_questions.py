"""What an upstream with a handshake asks during a call, relayed to its client."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from service.errors import ServiceError
from service.gateway.endpoint.cancellations import CANCELLED
from service.gateway.endpoint.client_call import ClientCall
from service.gateway.endpoint.client_sessions import INPUTS
from service.gateway.endpoint.questions import Questions
from service.gateway.endpoint.results import REQUESTS_MAX
from service.gateway.protocol.messages import RequestId, is_request_id
from service.gateway.upstream.errors import UpstreamError
from service.gateway.upstream.exchange import Exchange
from service.tasks import end_tasks

logger = logging.getLogger(__name__)


class RelayedQuestions:
    """Relays each as a message of the gateway's own, and the answer back.

    What can't be sent back is lost: the upstream waits for it as long as it wants to.
    """

    def __init__(
        self, questions: Questions, call: ClientCall, exchange: Exchange
    ) -> None:
        self._questions = questions
        self._call = call
        self._exchange = exchange
        self._count = 0
        self._tasks: dict[RequestId, asyncio.Task[None]] = {}

    @property
    def have_begun(self) -> bool:
        """Whether the client was ever call."""
        return self._count > 0

    def take(self, message: dict[str, Any]) -> bool:
        """Begin to relay a request, or end one that the upstream cancels.

        Returns False if the client can't be asked that, or was asked too often, and if
        there is nothing to end.
        """
        if message["method"] == CANCELLED:
            return self._cancel(message.get("params"))
        number = message.get("id")
        # No set: an upstream's method may be anything.
        methods = [INPUTS[name] for name in self._call.askable]
        if (
            not is_request_id(number)
            or number in self._tasks
            or message["method"] not in methods
            or self._count == REQUESTS_MAX
        ):
            return False
        self._count += 1
        task = asyncio.create_task(self._relay(number, message), name="MCP question")
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._tasks.pop(number))
        return True

    async def close(self) -> None:
        """End those that have no answer yet."""
        await end_tasks(*self._tasks.values())

    def _cancel(self, params: Any) -> bool:
        number = params.get("requestId") if isinstance(params, dict) else None
        task = self._tasks.get(number) if is_request_id(number) else None
        return task is not None and task.cancel()

    async def _relay(self, number: RequestId, message: dict[str, Any]) -> None:
        try:
            with self._exchange.silence_allowed():
                (outcome,) = await self._questions.outcomes(self._call, [message])
            await self._exchange.respond(number, _answer(outcome))
        except (ConnectionError, ServiceError, UpstreamError) as error:
            logger.debug("an answer to an upstream is lost: %s", type(error).__name__)


def _answer(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return one of both; some clients write null for the other."""
    if (error := outcome.get("error")) is not None:
        return {"error": error}
    return {"result": outcome.get("result")}

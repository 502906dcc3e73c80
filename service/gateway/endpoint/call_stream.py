"""What an upstream sends before the answer to a call, relayed to the call's client."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, Final

from service.gateway.endpoint.cancellations import CANCELLED
from service.gateway.endpoint.client_call import ClientCall
from service.gateway.endpoint.notifications import LIST_CHANGED, RELAYED, relay
from service.gateway.endpoint.questions import Questions
from service.gateway.endpoint.relayed_questions import RelayedQuestions
from service.gateway.upstream.errors import (
    ENDED,
    WANTS_INPUT,
    SessionEndedError,
    unusable,
)
from service.gateway.upstream.exchange import Exchange


class CallStream:
    """The stream of one call; ``on_list_changed`` is called when its tools change."""

    def __init__(
        self,
        exchange: Exchange,
        call: ClientCall,
        questions: Questions,
        on_list_changed: Callable[[], None],
    ) -> None:
        self._exchange = exchange
        self._call = call
        self._questions = RelayedQuestions(questions, call, exchange)
        self._on_list_changed = on_list_changed

    def relaying_questions(self) -> AbstractAsyncContextManager[None]:
        """Return a block, around the exchange, during which it may ask its client.

        A server may ask before its answer begins.
        """
        return _NOTHING if self._exchange.is_stateless else self._relaying()

    @asynccontextmanager
    async def _relaying(self) -> AsyncIterator[None]:
        try:
            with self._exchange.taking_questions(self._questions.take):
                yield
        except SessionEndedError as error:
            if not self._questions.have_begun:
                raise
            # It was at work: sent again, the call would run twice.
            raise unusable(error.detail, ENDED) from None
        finally:
            await self._questions.close()

    async def notified(self, message: dict[str, Any]) -> None:
        """Relay a message that precedes the answer.

        :raises UpstreamError: the upstream asks what can't be relayed
        """
        method = message["method"]
        if "id" in message:
            if self._exchange.is_stateless or not self._questions.take(message):
                # The tool would wait for an answer.
                self._exchange.cancel()
                raise unusable("it asked the client", WANTS_INPUT)
        elif method == CANCELLED:
            self._questions.take(message)
        elif method == LIST_CHANGED:
            self._on_list_changed()
        elif isinstance(method, str) and method in RELAYED:
            await relay(method, message.get("params"), self._exchange, self._call)


_NOTHING: Final = nullcontext()

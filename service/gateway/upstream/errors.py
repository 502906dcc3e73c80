"""The exceptions of calls to upstreams."""

from typing import Final

from service.gateway.gate import Outcome

NOT_REACHABLE: Final = "the tool's server can't be reached"
NO_ANSWER: Final = "the tool's server did not answer in time"
ENDED: Final = "the tool's server ended the connection before it had answered"
TOO_LARGE: Final = "the tool's answer is too large for the gateway"
NOT_MCP: Final = "the tool's server answered with something that is not MCP"
REFUSED: Final = "the tool's server refused the call"
SESSION_ENDED: Final = "the tool's server ended its session; call again"
WANTS_INPUT: Final = "the tool asked for input that the client can't give"


class UpstreamError(Exception):
    """No usable answer; the message is for the agent, and quotes nothing.

    ``detail`` is for the service's log.
    """

    def __init__(self, message: str, outcome: Outcome, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.outcome = outcome
        self.detail = detail


class NotConnectedError(UpstreamError):
    """The server can't be reached: nothing was sent."""

    def __init__(self, detail: str) -> None:
        super().__init__(NOT_REACHABLE, Outcome.NOT_SENT, detail)


def unusable(detail: str, message: str = NOT_MCP) -> UpstreamError:
    return UpstreamError(message, Outcome.UPSTREAM_ERROR, detail)


def too_large(detail: str) -> UpstreamError:
    return UpstreamError(TOO_LARGE, Outcome.TOO_LARGE, detail)

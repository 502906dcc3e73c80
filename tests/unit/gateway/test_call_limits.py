"""Limits of calls in flight, and of the state of a round."""

from contextlib import ExitStack
from uuid import uuid4

import pytest

from service.agent_tokens.caller import Caller
from service.errors import TooManyRequestsError, UnavailableError
from service.gateway.endpoint.request_state import EXPIRY_S, RequestState, RequestStates
from service.gateway.gate import CallRequest
from service.gateway.protocol.errors import RpcError
from service.gateway.upstream.limits import (
    CALLS_MAX,
    CALLS_OF_AGENT_AT_CONNECTOR_MAX,
    CALLS_OF_AGENT_MAX,
    CALLS_OF_CONNECTOR_MAX,
    CallLimits,
)


def test_calls_in_flight_are_limited_by_agent_connector_and_process() -> None:
    limits = CallLimits()
    agent, connector = uuid4(), uuid4()

    with ExitStack() as calls:
        for _ in range(CALLS_OF_AGENT_MAX):
            calls.enter_context(limits.counted(agent, uuid4()))
        for _ in range(CALLS_OF_CONNECTOR_MAX):
            calls.enter_context(limits.counted(uuid4(), connector))
        of_agent = limits.reached(agent, uuid4())
        of_connector = limits.reached(uuid4(), connector)
        of_others = limits.reached(uuid4(), uuid4())
        for _ in range(CALLS_MAX - CALLS_OF_AGENT_MAX - CALLS_OF_CONNECTOR_MAX):
            calls.enter_context(limits.counted(uuid4(), uuid4()))
        of_process = limits.reached(uuid4(), uuid4())

    assert isinstance(of_agent, TooManyRequestsError)
    assert isinstance(of_connector, TooManyRequestsError)
    assert of_others is None
    assert isinstance(of_process, UnavailableError)
    for error in (of_agent, of_connector, of_process):
        assert error.headers == {"Retry-After": "1"}
    assert limits.reached(agent, connector) is None


def test_a_server_that_hangs_leaves_an_agent_its_other_tools() -> None:
    limits = CallLimits()
    agent, hanging, other = uuid4(), uuid4(), uuid4()

    with ExitStack() as calls:
        for _ in range(CALLS_OF_AGENT_AT_CONNECTOR_MAX):
            assert limits.reached(agent, hanging) is None
            calls.enter_context(limits.counted(agent, hanging))
        refused = limits.reached(agent, hanging)

        assert isinstance(refused, TooManyRequestsError)
        assert limits.reached(agent, other) is None
        assert limits.reached(uuid4(), hanging) is None
    assert limits.reached(agent, hanging) is None


def test_the_state_of_a_round_expires() -> None:
    states = RequestStates(lambda *_: b"m" * 32)
    caller = Caller(agent_id=uuid4(), token_id=uuid4(), user_id=None)
    request = CallRequest(
        caller=caller,
        connector_id=uuid4(),
        tool="add",
        arguments=b"{}",
        request_id="1",
    )
    state = RequestState("upstream", "of the upstream")

    sealed = states.seal(state, request, 1000.0)

    assert states.open(sealed, request, 1000.0 + EXPIRY_S) == state
    with pytest.raises(RpcError, match="expired"):
        states.open(sealed, request, 1001.0 + EXPIRY_S)

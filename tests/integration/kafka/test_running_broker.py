"""The broker of the tests, running."""

import socket

import pytest

from tests.support.kafka.broker import Broker, answers

OTHER_ADDRESS = "127.0.0.2"


def has_address(address: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


@pytest.mark.kafka
@pytest.mark.skipif(
    not has_address(OTHER_ADDRESS), reason="loopback has one address, as on macOS"
)
@pytest.mark.thorough
def test_it_listens_on_one_loopback_address_only(own_broker: Broker) -> None:
    host, port = own_broker.bootstrap.split(":")
    assert host == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((OTHER_ADDRESS, int(port)), timeout=1)


@pytest.mark.kafka
@pytest.mark.thorough
def test_it_is_silent_while_paused_and_answers_again(frail_broker: Broker) -> None:
    assert answers(frail_broker.bootstrap, timeout_s=60)
    with frail_broker.paused():
        assert not answers(frail_broker.bootstrap)
    assert answers(frail_broker.bootstrap, timeout_s=60)

"""How settings become what the client is told."""

import ssl

import pytest

from projections.relay.kafka.settings import (
    KafkaSettings,
    Sasl,
    Tls,
    client_options,
)

SASL = Sasl(mechanism="SCRAM-SHA-512", username="relay", password="hunter2")


@pytest.mark.parametrize(
    ("tls", "sasl", "protocol"),
    [
        (None, None, "PLAINTEXT"),
        (Tls(), None, "SSL"),
        (None, SASL, "SASL_PLAINTEXT"),
        (Tls(), SASL, "SASL_SSL"),
    ],
)
def test_the_protocol_follows_from_what_is_set(
    tls: Tls | None, sasl: Sasl | None, protocol: str
) -> None:
    settings = KafkaSettings(bootstrap="kafka:9092", topic="t", tls=tls, sasl=sasl)
    options = client_options(settings)
    assert options["security_protocol"] == protocol
    assert isinstance(options["ssl_context"], ssl.SSLContext) == (tls is not None)
    assert options.get("sasl_plain_username") == ("relay" if sasl else None)


def test_certificates_are_checked_against_the_name() -> None:
    context = Tls().context()
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED


def test_the_clients_own_time_out_lies_behind_ours() -> None:
    settings = KafkaSettings(bootstrap="kafka:9092", topic="t", deadline_s=6.0)
    assert client_options(settings)["request_timeout_ms"] > 6000


@pytest.mark.parametrize("deadline_s", [0, -1, 10, 60])
def test_a_deadline_beyond_the_transaction_time_out_is_refused(
    deadline_s: float,
) -> None:
    with pytest.raises(ValueError, match="deadline"):
        KafkaSettings(bootstrap="kafka:9092", topic="t", deadline_s=deadline_s)


def test_names_follow_from_the_topic() -> None:
    settings = KafkaSettings(bootstrap="kafka:9092", topic="agents")
    assert settings.position_topic == "agents.relay-position"
    assert settings.transactional_id == "agent-runtime.relay.agents"

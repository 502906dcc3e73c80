"""The settings of single parts of the service, in groups as ``--help`` shows them."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from service.networks import networks_of
from service.waits import Waits

_WAITS = Waits()
_WEB_URL = re.compile(r"https?://[^\s{}]+")
_HOST_AND_PORT = re.compile(r"([^\s:,\[\]]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")


def _brokers(text: str) -> str:
    for broker in text.split(","):
        if not _HOST_AND_PORT.fullmatch(broker.strip()):
            raise ValueError("not HOST:PORT, or several separated by commas")
    return text


def _networks(text: str) -> str:
    networks_of(text)
    return text


def _approval_url(text: str) -> str:
    filled = text.replace("{agent_id}", "", 1).replace("{approval_id}", "", 1)
    if "{approval_id}" not in text or not _WEB_URL.fullmatch(filled):
        raise ValueError("not an http or https URL with {approval_id} in it")
    return text


Brokers = Annotated[str, AfterValidator(_brokers)]
Networks = Annotated[str, AfterValidator(_networks)]
ApprovalUrl = Annotated[str, AfterValidator(_approval_url)]


class KafkaConfig(BaseModel):
    """The settings of the Kafka relay; without ``kafka`` nothing is published."""

    kafka: Brokers | None = Field(
        None,
        description="HOST:PORT of a Kafka broker, several separated by commas. Without "
        "it events are not published.",
    )
    kafka_topic: str = Field(
        "agent-runtime.events",
        pattern=r"^[A-Za-z0-9._-]{1,200}$",
        description="Topic of the events. Two more topics have its name with "
        ".relay-position and .audit-checkpoints appended.",
    )
    kafka_partitions: int = Field(
        6,
        ge=1,
        le=1000,
        description="Partitions of the topic. Never change it for an existing topic: "
        "the order of events would break.",
    )
    kafka_replication: int = Field(
        3,
        ge=1,
        le=10,
        description="Replicas of each partition; all but one must acknowledge a "
        "write. 1 for a single broker.",
    )
    kafka_retention_ms: int = Field(
        -1,
        ge=-1,
        description="Retention of events on the topic, in milliseconds; -1 keeps them "
        "forever.",
    )
    kafka_compression: Literal["gzip"] | None = Field(
        None, description="Compression of batches: gzip. Without it none."
    )
    kafka_tls: bool = Field(
        default=False,
        description="Connect to Kafka with TLS and verify the broker's certificate.",
    )
    kafka_ca_file: Path | None = Field(
        None, description="CA certificates to trust instead of the system's."
    )
    kafka_certificate_file: Path | None = Field(
        None, description="Client certificate for TLS."
    )
    kafka_key_file: Path | None = Field(
        None, description="Private key of the client certificate."
    )
    kafka_sasl: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = Field(
        None, description="SASL mechanism: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."
    )
    kafka_user: str | None = Field(None, description="User name for SASL.")
    kafka_password_file: Path | None = Field(
        None, description="File that contains the password for SASL."
    )


class TraceStoreConfig(BaseModel):
    """The settings of an Arize Phoenix that enriches session lists."""

    trace_store: str | None = Field(
        None,
        pattern=r"^https?://[^/?#@\s]+(/[^?#\s]*)?$",
        description="Base URL of an Arize Phoenix that enriches session lists.",
    )
    trace_store_token: str | None = Field(
        None, repr=False, description="Bearer token for the trace store."
    )
    trace_store_project: str | None = Field(
        None,
        min_length=1,
        description="Project of the trace store with the traces of all agents. Without "
        "it each agent has a project of its own, named by the agent's id.",
    )


class KeyConfig(BaseModel):
    """Where root keys come from; without any they are in the data folder."""

    root_keys: str | None = Field(
        None,
        repr=False,
        description="Root keys as ID:BASE64, the primary first, separated by commas "
        "or spaces. A variable only: every user of the machine can see options.",
    )
    root_keys_file: Path | None = Field(
        None,
        description="File of root keys as ID:BASE64, the primary first, readable by "
        "its owner only; a systemd credential works. Without it, a program or the "
        "variable AGENT_RUNTIME_ROOT_KEYS, root keys are kept in the data folder.",
    )
    root_keys_program: str | None = Field(
        None, description="Command that wraps and unwraps keys, for example with a KMS."
    )


class ProxyConfig(BaseModel):
    """The settings of a service behind proxies or load balancers."""

    trusted_proxies: Networks | None = Field(
        None,
        description="Addresses and networks of the proxies before the service, "
        "separated by commas, such as 10.0.0.0/8,::1. The client's address, in the log "
        "and for the limit of refused tokens, is then the last one in X-Forwarded-For "
        "that isn't one of them. Without it that header is ignored.",
    )
    keepalive_s: float = Field(
        150.0,
        ge=1,
        le=4000,
        description="How long a connection without a request is kept open, in seconds: "
        "longer than a proxy keeps it, which then closes it first.",
    )
    shutdown_delay_s: float = Field(
        8.0,
        ge=0,
        le=300,
        description="How long requests are still accepted after SIGTERM while /readyz "
        "says 503, in seconds: longer than a load balancer takes to notice. After "
        "SIGINT there is no delay.",
    )


class GatewayConfig(BaseModel):
    """The settings of the tool gateway."""

    gateway_networks: Networks | None = Field(
        None,
        description="Networks in which connectors may be in addition to the public "
        "internet, separated by commas, such as 10.0.0.0/8,fd12::/16; TLS is not "
        "required in them. Without it the gateway calls public addresses only, with "
        "TLS.",
    )
    gateway_hold_s: float = Field(
        20.0,
        ge=0,
        le=300,
        description="How long a tool call waits for the answer of the person who is "
        "asked, in seconds, before the agent is told that it is pending; 0 "
        "tells it at once.",
    )
    gateway_approval_url: ApprovalUrl | None = Field(
        None,
        description="URL of the page on which people answer, with {approval_id} and "
        "perhaps {agent_id} in it. With it, clients of agents that can open links "
        "are given one.",
    )
    gateway_silence_s: float = Field(
        60.0,
        ge=1,
        le=540,
        description="How long a connector may send nothing while a call waits for it, "
        "in seconds, at most 540.",
    )
    gateway_call_s: float = Field(
        300.0,
        ge=1,
        le=540,
        description="How long a forwarded tool call may take in all, in seconds, at "
        "most 540; a call without an end on record counts as cut off after ten "
        "minutes.",
    )
    gateway_answer_bytes: int = Field(
        8 * 1024 * 1024,
        ge=64 * 1024,
        le=32 * 1024 * 1024,
        description="How large an answer of a connector may be, in bytes, from 65536 "
        "to 33554432. A result that stands in it as content and as structuredContent "
        "counts once.",
    )
    gateway_tools_max: int = Field(
        500,
        ge=1,
        le=2_000,
        description="How many tools of one connector are taken, at most 2000; those "
        "beyond are left out and named in the connector's health.",
    )
    gateway_values_max: int = Field(
        5_000,
        ge=1_000,
        le=20_000,
        description="How many values the arguments of a tool call may have, with the "
        "rest of their message, from 1000 to 20000.",
    )
    gateway_hidden_characters: Literal["remove", "mark", "keep"] = Field(
        "remove",
        description="What agents see of characters that people don't see, in "
        "descriptions and other texts of tool definitions, such as zero-width and "
        "direction characters: remove takes them out, mark shows them, such as "
        "<U+202E>, keep leaves them.",
    )


class WaitConfig(BaseModel):
    """How long requests wait, and for what; a request may have several such waits."""

    wait_connection_s: float = Field(
        _WAITS.connection_s,
        ge=0.1,
        le=60,
        description="How long a request waits for one of this process's connections to "
        "the database, in seconds; then it gets 503 database_busy.",
    )
    wait_lock_s: float = Field(
        _WAITS.lock_s,
        ge=0.1,
        le=60,
        description="How long a statement waits for a lock of another session of the "
        "database, in seconds; then its request gets 503 database_locked.",
    )
    wait_statement_s: float = Field(
        _WAITS.statement_s,
        ge=0.1,
        le=60,
        description="How long a statement may take in the database, in seconds; then "
        "its request gets 503 database_slow. After twice as long without any answer "
        "the connection is given up.",
    )
    wait_commit_s: float = Field(
        _WAITS.commit_s,
        ge=0.1,
        le=60,
        description="How long a command waits for those before it, in seconds; then it "
        "gets 503 overloaded. So long it also waits for standbys, before 503 "
        "not_replicated, and for the outcome of a commit whose connection was lost.",
    )
    wait_position_s: float = Field(
        _WAITS.position_s,
        ge=0,
        le=60,
        description="How long a read waits for the position that X-Min-Position names, "
        "in seconds; then it gets 503 position_not_reached.",
    )
    wait_body_s: float = Field(
        _WAITS.body_s,
        ge=1,
        le=600,
        description="How long a body may take to arrive, in seconds, a price list "
        "twice as long; then the request gets 503 upload_too_slow.",
    )
    wait_root_key_s: float = Field(
        _WAITS.root_key_s,
        ge=0.1,
        le=60,
        description="How long a request waits for --root-keys-program, in seconds; "
        "then it gets 503 root_key_unavailable.",
    )
    wait_trace_store_s: float = Field(
        _WAITS.trace_store_s,
        ge=0.1,
        le=60,
        description="How long a list of sessions may take with what the trace store "
        "has of it, in seconds; then it comes without.",
    )

    @property
    def waits(self) -> Waits:
        return Waits(
            **{each.name: getattr(self, f"wait_{each.name}") for each in fields(Waits)}
        )

"""Every setting, read once from the command line and the environment."""

import re
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from service.errors import ConfigError
from service.logs import LogFormat

ENVIRONMENT_PREFIX: Final = "AGENT_RUNTIME_"
# Every user of a machine can read a process's options.
NO_OPTION: Final = frozenset({"root_keys"})
PARTS: Final = frozenset({"api", "followers", "relay"})

_WEB_URL = re.compile(r"https?://[^\s{}]+")
_HOST_AND_PORT = re.compile(r"([^\s:,\[\]]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")


def _not_empty(value: Any) -> Any:
    # "" would mean the current folder, or libpq's default database.
    if value == "":
        raise ValueError("must not be empty")
    return value


def _conninfo(url: str) -> str:
    try:
        conninfo_to_dict(url)
    except ProgrammingError:
        # libpq's message can quote a password.
        raise ValueError("not a PostgreSQL URL") from None
    return url


def _one_server(url: str) -> str:
    parameters = conninfo_to_dict(_conninfo(url))
    if "," in str(parameters.get("host", "") or parameters.get("hostaddr", "")):
        raise ValueError("must name one server")
    return url


def _brokers(text: str) -> str:
    for broker in text.split(","):
        if not _HOST_AND_PORT.fullmatch(broker.strip()):
            raise ValueError("not HOST:PORT, or several separated by commas")
    return text


def _parts(text: str) -> str:
    if not {part.strip() for part in text.split(",")} <= PARTS:
        raise ValueError("not api, followers or relay, or several separated by commas")
    return text


Folder = Annotated[Path, BeforeValidator(_not_empty)]
DatabaseUrl = Annotated[str, BeforeValidator(_not_empty), AfterValidator(_conninfo)]
ReplicaUrl = Annotated[str, BeforeValidator(_not_empty), AfterValidator(_one_server)]
Brokers = Annotated[str, AfterValidator(_brokers)]


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
        description="Topic of the events. TOPIC.relay-position and "
        "TOPIC.audit-checkpoints are used beside it.",
    )
    kafka_partitions: int = Field(
        6,
        ge=1,
        le=1000,
        description="Partitions of the topic. Can't be changed later.",
    )
    kafka_replication: int = Field(
        3,
        ge=1,
        le=10,
        description="Replication factor of the topics. All replicas but one must "
        "acknowledge a write.",
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
        default=False, description="Use TLS and verify the broker's certificate."
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
        description="Root keys as ID:BASE64, the primary first.",
    )
    root_keys_file: Path | None = Field(
        None,
        description="File of root keys as ID:BASE64, the primary first. Without it, a "
        "program or the variable AGENT_RUNTIME_ROOT_KEYS, root keys are kept in the "
        "data folder.",
    )
    root_keys_program: str | None = Field(
        None, description="Command that wraps and unwraps keys, for example with a KMS."
    )


def _networks(text: str) -> str:
    for network in text.split(","):
        try:
            ip_network(network.strip())
        except ValueError:
            raise ValueError(
                "not networks such as 10.0.0.0/8, separated by commas"
            ) from None
    return text


def _approval_url(text: str) -> str:
    filled = text.replace("{agent_id}", "", 1).replace("{approval_id}", "", 1)
    if "{approval_id}" not in text or not _WEB_URL.fullmatch(filled):
        raise ValueError("not an http or https URL with {approval_id} in it")
    return text


class GatewayConfig(BaseModel):
    """The settings of the tool gateway."""

    gateway_networks: Annotated[str, AfterValidator(_networks)] | None = Field(
        None,
        description="Networks in which connectors may be besides the public internet, "
        "separated by commas, such as 10.0.0.0/8: there also without TLS. Without it "
        "the gateway calls public addresses alone, with TLS.",
    )
    gateway_hold_s: float = Field(
        20.0,
        ge=0,
        le=300,
        description="How long a tool call waits for the answer of the person who is "
        "asked, in seconds, before the agent is told that it is pending.",
    )
    gateway_approval_url: Annotated[str, AfterValidator(_approval_url)] | None = Field(
        None,
        description="URL of the page on which people answer, with {approval_id} and "
        "perhaps {agent_id} in it. With it agents' clients that can open links are "
        "given one.",
    )
    gateway_otlp_endpoint: str | None = Field(
        None,
        pattern=r"^https?://[^/?#@\s]+(/[^?#\s]*)?$",
        description="URL of an OTLP/HTTP receiver, path included, that spans of tool "
        "calls are exported to. Without it there are none.",
    )


class Config(KeyConfig, KafkaConfig, TraceStoreConfig, GatewayConfig):
    """The settings of ``agent-runtime``.

    Each is an option of the command line (``data_dir``: ``--data-dir``) and an
    environment variable (``AGENT_RUNTIME_DATA_DIR``); the option wins. Those in
    ``NO_OPTION`` are variables only.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(
        8080, ge=0, le=65535, description="Port to listen on; 0 chooses a free one."
    )
    data_dir: Folder = Field(
        Path("data"),
        description="Folder of the keys, the bootstrap token and the embedded "
        "database.",
    )
    database_url: DatabaseUrl | None = Field(
        None,
        repr=False,
        description="URL of the PostgreSQL database. Without it an embedded one runs "
        "in the data folder.",
    )
    read_database_url: ReplicaUrl | None = Field(
        None,
        repr=False,
        description="URL of a standby of the PostgreSQL database, to answer reads "
        "while it is near enough to the primary.",
    )
    only: Annotated[str, AfterValidator(_parts)] | None = Field(
        None,
        description="Parts of the service to run in one process: api, followers, "
        "relay, or several separated by commas. Without it all of them in two "
        "processes: the API in one, followers and relay in the other.",
    )
    reads_only: bool = Field(
        default=False,
        description="With --only api: answer reads, and refuse commands with 421.",
    )
    shutdown_delay_s: float = Field(
        5.0,
        ge=0,
        le=300,
        description="How long requests are still accepted after SIGTERM while /readyz "
        "says 503, in seconds: longer than a load balancer takes to notice. After "
        "SIGINT there is no delay.",
    )
    demo: bool = Field(
        default=False, description="Load demo data into an empty event log."
    )
    log_check_hours: float = Field(
        24,
        gt=0,
        le=8760,
        description="Hours within which the whole log is compared with its Merkle tree "
        "again, in the background. A short log takes less.",
    )
    log_format: LogFormat = Field(
        "auto",
        description="Format of log lines: text, json, or auto, which is text on a "
        "terminal and JSON elsewhere.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level of log lines: debug, info, warning or error."
    )

    @property
    def parts(self) -> frozenset[str]:
        """The parts that run in this process."""
        if self.only is None:
            return frozenset({"api"})
        return frozenset(part.strip() for part in self.only.split(","))

    @property
    def process_name(self) -> str | None:
        """The name of this process in its log lines, unless it serves the API."""
        if "api" in self.parts:
            return None
        return "followers" if "followers" in self.parts else "relay"

    @classmethod
    def read(cls, options: Mapping[str, Any], environment: Mapping[str, str]) -> Self:
        """Read the settings; options override environment variables.

        :raises ConfigError: invalid values, or unknown variables with our prefix
        """
        variables = {
            variable.removeprefix(ENVIRONMENT_PREFIX).lower(): value
            for variable, value in environment.items()
            if variable.startswith(ENVIRONMENT_PREFIX)
        }
        unknown = sorted(variables.keys() - cls.model_fields.keys())
        if unknown:
            raise ConfigError(
                f"unknown settings: {', '.join(map(variable_of, unknown))}"
            )
        given = {
            name: value
            for name, value in options.items()
            if name in cls.model_fields and value is not None
        }
        try:
            return cls.model_validate(variables | given)
        except ValidationError as invalid:
            problems = [
                f"{variable_of(str(error['loc'][0]))}: "
                + error["msg"].removeprefix("Value error, ")
                for error in invalid.errors(include_input=False)
            ]
            raise ConfigError("; ".join(problems)) from None


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return ENVIRONMENT_PREFIX + name.upper()

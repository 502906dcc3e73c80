"""Every setting, read once from the command line and the environment."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

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

from service.logs import LogFormat

ENVIRONMENT_PREFIX = "AGENT_RUNTIME_"
# Everyone on a machine can read a process's options.
NO_OPTION = frozenset({"root_keys"})


class ConfigError(Exception):
    """A setting, or what it points to, can't be used; the message says which."""


class StartError(Exception):
    """A command can't start, though its settings can be read; says why."""


def _not_empty(value: Any) -> Any:
    # Nobody means the current folder, or the database that libpq finds by itself.
    if value == "":
        raise ValueError("empty")
    return value


def _connectable(url: str) -> str:
    try:
        conninfo_to_dict(url)
    except ProgrammingError:
        # Its own words can quote a password.
        raise ValueError("not a URL of PostgreSQL") from None
    return url


def _hosts_and_ports(text: str) -> str:
    for place in text.split(","):
        if not _HOST_AND_PORT.fullmatch(place.strip()):
            raise ValueError("not HOST:PORT, or several with commas")
    return text


_HOST_AND_PORT = re.compile(r"([^\s:,\[\]]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")


class Config(BaseModel):
    """The settings of ``agent-runtime``.

    Each is an option of the command line (``data_dir``: ``--data-dir``) and a
    variable of the environment (``AGENT_RUNTIME_DATA_DIR``); the option wins. Those
    in ``NO_OPTION`` are variables only.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: Annotated[str, Field(description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[
        int, Field(ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    ] = 8080
    data_dir: Annotated[
        Path,
        BeforeValidator(_not_empty),
        Field(
            description="Folder of the keys, the first token and the embedded database."
        ),
    ] = Path("data")
    database_url: Annotated[
        Annotated[str, BeforeValidator(_not_empty), AfterValidator(_connectable)]
        | None,
        Field(
            repr=False,
            description="PostgreSQL to use; without it an embedded one runs "
            "in the data folder.",
        ),
    ] = None
    root_keys: Annotated[
        str | None,
        Field(repr=False, description="Root keys, as ID:BASE64, the primary first."),
    ] = None
    root_keys_file: Annotated[
        Path | None,
        Field(
            description="File of root keys, as ID:BASE64, the primary first; without "
            "it, or the variable AGENT_RUNTIME_ROOT_KEYS, or a program, they are in "
            "the data folder."
        ),
    ] = None
    root_keys_program: Annotated[
        str | None,
        Field(description="Command that wraps and unwraps keys, for example by a KMS."),
    ] = None
    kafka: Annotated[
        str | None,
        Field(
            description="HOST:PORT of a Kafka broker, or of several with commas; "
            "without it nothing is published."
        ),
        AfterValidator(_hosts_and_ports),
    ] = None
    kafka_topic: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9._-]{1,200}$",
            description="Topic of the events; TOPIC.relay-position stands beside it.",
        ),
    ] = "agent-runtime.events"
    kafka_partitions: Annotated[
        int,
        Field(
            ge=1, le=1000, description="Partitions of the topic, for its whole life."
        ),
    ] = 6
    kafka_replication: Annotated[
        int,
        Field(
            ge=1,
            le=10,
            description="Copies of each partition; all but one must be written.",
        ),
    ] = 3
    kafka_retention_ms: Annotated[
        int, Field(ge=-1, description="How long events stay on the topic; -1 for ever.")
    ] = -1
    kafka_compression: Annotated[
        Literal["gzip"] | None, Field(description="How batches are compressed: gzip.")
    ] = None
    kafka_tls: Annotated[
        bool, Field(description="Speak TLS with Kafka and check its certificate.")
    ] = False
    kafka_ca_file: Annotated[
        Path | None,
        Field(description="Authorities to trust for Kafka instead of the system's."),
    ] = None
    kafka_certificate_file: Annotated[
        Path | None, Field(description="Certificate to show to Kafka.")
    ] = None
    kafka_key_file: Annotated[
        Path | None, Field(description="Private key of that certificate.")
    ] = None
    kafka_sasl: Annotated[
        Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None,
        Field(description="How to authenticate to Kafka."),
    ] = None
    kafka_user: Annotated[
        str | None, Field(description="User name to authenticate to Kafka with.")
    ] = None
    kafka_password_file: Annotated[
        Path | None, Field(description="File of that user's password.")
    ] = None
    trace_store: Annotated[
        str | None,
        Field(
            pattern=r"^https?://[^/?#@\s]+(/[^?#\s]*)?$",
            description="Base URL of an Arize Phoenix that enriches session lists.",
        ),
    ] = None
    trace_store_token: Annotated[
        str | None, Field(repr=False, description="Bearer token for the trace store.")
    ] = None
    trace_store_project: Annotated[
        str | None,
        Field(
            min_length=1,
            description="Project of the trace store that all agents' traces are in; "
            "without it each agent has its own, named by the agent's id.",
        ),
    ] = None
    only: Annotated[
        Literal["api", "followers", "relay"] | None,
        Field(description="Run one part of the service instead of all of them."),
    ] = None
    demo: Annotated[
        bool, Field(description="Fill an empty log with demo data through the API.")
    ] = False
    log_format: Annotated[
        LogFormat,
        Field(
            description="Log lines as text or as JSON; auto is text on a terminal and "
            "JSON elsewhere."
        ),
    ] = "auto"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Field(description="Least severity of the log lines on standard error."),
    ] = "info"

    @classmethod
    def read(cls, options: Mapping[str, Any], environment: Mapping[str, str]) -> Self:
        """Merge options over the environment.

        :raises ConfigError: for values that don't fit, and for unknown variables
            with our prefix
        """
        given: dict[str, Any] = {}
        unknown: list[str] = []
        for variable, value in environment.items():
            if variable.startswith(ENVIRONMENT_PREFIX):
                name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
                if name in cls.model_fields:
                    given[name] = value
                else:
                    unknown.append(variable)
        given.update(
            {
                name: value
                for name, value in options.items()
                if name in cls.model_fields and value is not None
            }
        )
        if unknown:
            raise ConfigError(f"unknown settings: {', '.join(sorted(unknown))}")
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            faults = [
                f"{variable_of(str(each['loc'][0]))}: "
                + each["msg"].removeprefix("Value error, ")
                for each in error.errors(include_input=False)
            ]
            raise ConfigError("; ".join(faults)) from None


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return ENVIRONMENT_PREFIX + name.upper()

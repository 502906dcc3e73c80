"""Every setting, read once from the command line and the environment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from projections.audit.proofs.config import ProofsConfig
from projections.relay.config import RelayConfig
from projections.sessions.phoenix.config import TraceStoreConfig
from service.cache_bounds import CACHE_BYTES, CacheBounds
from service.demo.config import DemoConfig
from service.errors import ConfigError
from service.gateway.config import GatewayConfig
from service.http.config import ProxyConfig
from service.keys.config import KeyConfig
from service.logs import LogFormat
from service.model_gateway.config import ModelGatewayConfig
from service.settings import ENVIRONMENT_PREFIX, variable_of
from service.tracing.config import TracingConfig
from service.waits import WaitConfig

# Those of the Python client and of art: a person exports them for these, and may run
# the service's own commands in the same shell.
CLIENT_VARIABLES: Final = frozenset(
    {"AGENT_RUNTIME_SERVER", "AGENT_RUNTIME_TOKEN", "AGENT_RUNTIME_TOKEN_FILE"}
)
# Every user of a machine can read a process's options.
NO_OPTION: Final = frozenset({"root_keys"})
PARTS: Final = frozenset({"api", "followers", "relay"})


def _not_empty(value: Any) -> Any:
    # "" would mean the current folder, or libpq's default database.
    if value == "":
        raise ValueError("must not be empty")
    return value


def _usable(folder: Path) -> Path:
    try:
        folder.exists()
    except OSError as error:
        raise ValueError(
            f"{error.strerror}, so the folder can't be used: choose another one"
        ) from None
    return folder


def _conninfo(url: str) -> str:
    try:
        # Whatever a service file says: the service reads no other encoding.
        return make_conninfo(url, client_encoding="UTF8")
    except ProgrammingError:
        # libpq's message can quote a password.
        raise ValueError("not a PostgreSQL URL") from None


def _one_server(url: str) -> str:
    parameters = conninfo_to_dict(_conninfo(url))
    if "," in str(parameters.get("host", "") or parameters.get("hostaddr", "")):
        raise ValueError("must name one server")
    return url


def _parts(text: str) -> str:
    if not {part.strip() for part in text.split(",")} <= PARTS:
        raise ValueError("not api, followers or relay, or several separated by commas")
    return text


Folder = Annotated[Path, BeforeValidator(_not_empty), AfterValidator(_usable)]
DatabaseUrl = Annotated[str, BeforeValidator(_not_empty), AfterValidator(_conninfo)]
ReplicaUrl = Annotated[str, BeforeValidator(_not_empty), AfterValidator(_one_server)]


class Config(
    KeyConfig,
    RelayConfig,
    TraceStoreConfig,
    ProxyConfig,
    GatewayConfig,
    ModelGatewayConfig,
    WaitConfig,
    ProofsConfig,
    TracingConfig,
    DemoConfig,
):
    """The settings of ``agent-runtime``: its own, and those of its groups.

    Each is an option of the command line (``data_dir``: ``--data-dir``) and an
    environment variable (``AGENT_RUNTIME_DATA_DIR``); the option wins. Those in
    ``NO_OPTION`` are variables only.
    """

    TITLE = "settings"
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: str = Field(
        "127.0.0.1", description="Address to listen on; 0.0.0.0 in a container."
    )
    port: int = Field(
        8080, ge=0, le=65535, description="Port to listen on; 0 chooses a free one."
    )
    data_dir: Folder = Field(
        Path("data"),
        description="Folder of the keys, the first token and the embedded database.",
    )
    database_url: DatabaseUrl | None = Field(
        None,
        repr=False,
        description="URL of the PostgreSQL database. Without it an embedded one runs "
        "in the data folder. Every user of the machine can see options: prefer the "
        "variable if the URL has a password.",
    )
    read_database_url: ReplicaUrl | None = Field(
        None,
        repr=False,
        description="URL of one standby of the PostgreSQL database, to answer reads "
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
        description="With --only api: answer reads, and refuse commands with 421 "
        "reads_only.",
    )
    without: str = Field(
        "",
        description="Optional capabilities to leave out, separated by commas: their "
        "operations, followers, background work and settings. They are gateway, "
        "model_gateway, relay, proofs, otlp, price_imports, phoenix, tracing, console, "
        "demo and embedded_postgres.",
    )
    cache_bytes: int = Field(
        CACHE_BYTES,
        ge=16 * 1024 * 1024,
        description="How much memory a process takes to keep what it has read from the "
        "event log, in bytes, at least 16777216; about 150 MB come on top. What hasn't "
        "been used for longest is read again when it is needed.",
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
    def caches(self) -> CacheBounds:
        return CacheBounds.of(self.cache_bytes)

    @property
    def parts(self) -> frozenset[str]:
        """The parts that run in this process."""
        if self.only is None:
            return frozenset({"api"})
        return frozenset(part.strip() for part in self.only.split(","))

    @property
    def left_out(self) -> frozenset[str]:
        """The names of capabilities that are left out."""
        return frozenset(filter(None, map(str.strip, self.without.split(","))))

    @property
    def process_name(self) -> str | None:
        """The name of this process in its log lines, unless it serves the API."""
        if "api" in self.parts:
            return None
        return "followers" if "followers" in self.parts else "relay"

    def of_follower_process(self, database_url: str) -> Self:
        """Return the settings of the process that this one starts for the followers."""
        return self.model_copy(
            update={
                "only": "followers" if self.kafka is None else "followers,relay",
                "database_url": database_url,
                "read_database_url": None,
                # For probes and metrics; the latter are also among this process's.
                "host": "127.0.0.1",
                "port": 0,
                "demo": False,
                "shutdown_delay_s": 0.0,
            }
        )

    @classmethod
    def read(cls, options: Mapping[str, Any], environment: Mapping[str, str]) -> Self:
        """Read the settings; options override environment variables.

        :raises ConfigError: invalid values, or unknown variables with our prefix
        """
        variables = {
            variable.removeprefix(ENVIRONMENT_PREFIX).lower(): value
            for variable, value in environment.items()
            if variable.startswith(ENVIRONMENT_PREFIX)
            and variable not in CLIENT_VARIABLES
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
        values = variables | given
        _require_utf8(values)
        try:
            return cls.model_validate(values)
        except ValidationError as invalid:
            problems = [
                f"{variable_of(str(error['loc'][0]))}: "
                + error["msg"].removeprefix("Value error, ")
                for error in invalid.errors(include_input=False)
            ]
            raise ConfigError("; ".join(problems)) from None


def _require_utf8(values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        try:
            str(value).encode()
        except UnicodeEncodeError:
            raise ConfigError(f"{variable_of(name)}: not in UTF-8") from None


DEFAULTS: Final = Config.read({}, {})

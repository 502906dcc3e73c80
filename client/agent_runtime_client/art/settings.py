"""The service to call and the token to use, from flags, environment and file.

A flag comes before the environment, the environment before the file. The file is
``~/.config/agent-runtime/config.toml``::

    default = "local"

    [servers.local]
    url = "http://127.0.0.1:8080"
    token_file = "~/.config/agent-runtime/local.token"
"""

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from agent_runtime_client.art.errors import UsageError
from agent_runtime_client.secret import Secret, token_of

SERVER: Final = "AGENT_RUNTIME_SERVER"
TOKEN: Final = "AGENT_RUNTIME_TOKEN"  # noqa: S105 # the name of a variable
TOKEN_FILE: Final = "AGENT_RUNTIME_TOKEN_FILE"  # noqa: S105 # the name of a variable
DEFAULT_URL: Final = "http://127.0.0.1:8080"


class Settings(NamedTuple):
    """The service to call, and where its URL and the token are from."""

    url: str
    token: Secret | None
    source: str = ""
    token_source: str = ""


def settings_of(
    environment: Mapping[str, str], *, server: str | None, token_file: str | None
) -> Settings:
    """Return the settings of one run.

    A server is a URL, or a name in the configuration file. The token of the file goes
    only to the server that it stands with.

    :raises UsageError: a file can't be read, or others can read it; no header takes
        the token
    """
    # An empty variable is one that isn't set.
    environment = {name: value for name, value in environment.items() if value}
    source = "--server" if server else SERVER
    server = server or environment.get(SERVER)
    named: Mapping[str, str] = {}
    if server is None or "://" not in server:
        named = _named(config_path(environment), server)
        if server is None:
            source = f"the default; set {SERVER} or --server"
        if "url" in named:
            source = str(config_path(environment))
    url = named.get("url") or server or DEFAULT_URL
    token, token_source = _token(environment, token_file, named)
    try:
        secret = token_of(token) if token else None
    except ValueError as error:
        raise UsageError(f"{error}; it is from {token_source}") from None
    return Settings(url.rstrip("/"), secret, source, token_source)


def _token(
    environment: Mapping[str, str], token_file: str | None, named: Mapping[str, str]
) -> tuple[str | None, str]:
    """Return the token, and where it is from."""
    config = str(config_path(environment))
    source = "--token-file" if token_file else TOKEN_FILE
    token_file = token_file or environment.get(TOKEN_FILE)
    if token_file is None and TOKEN in environment:
        return environment[TOKEN], TOKEN
    if token_file is None:
        token_file, source = named.get("token_file"), config
    if token_file is None:
        return named.get("token"), config if "token" in named else ""
    path = Path(token_file).expanduser()
    return _private_text(path).strip(), f"{path} ({source})"


def config_path(environment: Mapping[str, str]) -> Path:
    """Return the path of the configuration file, whether it exists or not."""
    home = environment.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    return Path(home) / "agent-runtime" / "config.toml"


def _named(path: Path, name: str | None) -> Mapping[str, str]:
    if not path.exists():
        if name is None:
            return {}
        raise UsageError(
            f"{name} is no URL such as {DEFAULT_URL}, and there is no {path} to name it"
        )
    try:
        config: dict[str, Any] = tomllib.loads(_private_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from None
    name = name or config.get("default")
    servers = config.get("servers", {})
    if name is None:
        return {}
    if name not in servers:
        known = ", ".join(sorted(servers)) or "none"
        raise UsageError(f"{path} has no server {name}; it has {known}")
    found: Mapping[str, str] = servers[name]
    return found


def _private_text(path: Path) -> str:
    """Read a file that only its owner may read."""
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder, not a file")
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise UsageError(
                f"other users of this machine may read {path}: run chmod 600 {path}"
            )
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"can't read {path}: {error}") from None

"""Every capability of the service: the core, and those that can be left out."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Final

from service.capabilities.agent_tokens import AGENT_TOKENS
from service.capabilities.agents import AGENTS
from service.capabilities.api_documents import API_DOCUMENTS
from service.capabilities.audit import AUDIT
from service.capabilities.connectors import CONNECTORS
from service.capabilities.declaration import Capability, OptionalCapability
from service.capabilities.destruction import DESTRUCTION
from service.capabilities.health import HEALTH_PROBES
from service.capabilities.optional import (
    CONSOLE,
    DEMO,
    EMBEDDED_POSTGRES,
    GATEWAY,
    MODEL_GATEWAY,
    OTLP,
    PHOENIX,
    PRICE_IMPORTS,
    PROOFS,
    RELAY,
    TRACING,
)
from service.capabilities.price_catalog import PRICE_CATALOG
from service.capabilities.secrets import SECRETS
from service.capabilities.sessions import SESSIONS
from service.capabilities.tool_definitions import TOOL_DEFINITIONS
from service.capabilities.tool_rules import TOOL_RULES
from service.capabilities.usage import USAGE
from service.capabilities.users import USERS
from service.config import Config
from service.errors import ConfigError
from service.settings import variable_of

CAPABILITIES: Final[tuple[Capability | OptionalCapability, ...]] = (
    USERS,
    AGENTS,
    AGENT_TOKENS,
    CONNECTORS,
    TOOL_DEFINITIONS,
    TOOL_RULES,
    GATEWAY,
    SECRETS,
    DESTRUCTION,
    SESSIONS,
    OTLP,
    USAGE,
    PRICE_CATALOG,
    PRICE_IMPORTS,
    MODEL_GATEWAY,
    AUDIT,
    PROOFS,
    API_DOCUMENTS,
    RELAY,
    HEALTH_PROBES,
    CONSOLE,
    PHOENIX,
    TRACING,
    DEMO,
    EMBEDDED_POSTGRES,
)
"""In the order of the API's documentation. Application tasks start from the last to
the first, and end in the opposite order: the gateway ends before the recorder of
refusals does."""

OPTIONAL: Final = tuple(
    each for each in CAPABILITIES if isinstance(each, OptionalCapability)
)


def running(config: Config) -> tuple[Capability, ...]:
    """Import and return what the settings don't leave out.

    :raises ConfigError: they leave out what can't be left out
    """
    return tuple(_loaded(_left_out(config)))


def _loaded(left_out: Collection[str]) -> Iterator[Capability]:
    for each in CAPABILITIES:
        if isinstance(each, Capability):
            yield each
        elif each.name not in left_out and (loaded := each.load()) is not None:
            yield loaded


def _left_out(config: Config) -> frozenset[str]:
    names = [each.name for each in OPTIONAL]
    if unknown := sorted(config.left_out.difference(names)):
        raise ConfigError(
            f"{variable_of('without')}: {', '.join(unknown)} can't be left out; these "
            f"can: {', '.join(names)}"
        )
    return config.left_out


def core_first(capabilities: Iterable[Capability]) -> list[Capability]:
    """Sort so that optional ones can replace what the core has put in place."""
    optional = {each.name for each in OPTIONAL}
    return sorted(capabilities, key=lambda each: each.name in optional)


def followers_left_out(config: Config) -> list[str]:
    """Return the names of followers that don't run on this database.

    :raises ConfigError: as ``running`` does
    """
    left_out = _left_out(config)
    return [
        name for each in OPTIONAL if each.name in left_out for name in each.followers
    ]


def require_runnable(config: Config) -> None:
    """Require that the settings, and what is installed, allow a service to start.

    :raises ConfigError: they don't
    """
    left_out = _left_out(config)
    for each in OPTIONAL:
        if each.name in left_out:
            _require_not_set(config, each)
    used = [
        each for each in OPTIONAL if each.name not in left_out and each.is_used(config)
    ]
    for each in used:
        _require_others(left_out, each)
    _require_installed(used)
    for capability in running(config):
        capability.check_settings(config)


def _require_not_set(config: Config, left_out: OptionalCapability) -> None:
    fields = type(config).model_fields
    given = [
        variable_of(name)
        for group in left_out.settings
        for name in group.model_fields
        if getattr(config, name) != fields[name].default
    ]
    if given:
        raise ConfigError(
            f"{', '.join(given)}: {left_out.name} is left out by "
            f"{variable_of('without')}; take one of the two settings back"
        )
    if reason := left_out.needed_because(config):
        raise ConfigError(
            f"{left_out.name} is needed, because {reason}, but "
            f"{variable_of('without')} leaves it out; change one of the two settings"
        )


def _require_others(left_out: Collection[str], used: OptionalCapability) -> None:
    if missing := sorted({*left_out}.intersection(used.needs)):
        raise ConfigError(
            f"{used.name} needs {' and '.join(missing)}, which "
            f"{variable_of('without')} leaves out"
        )


def _require_installed(used: Sequence[OptionalCapability]) -> None:
    missing = {
        each.name: [name for name in each.requires if not _is_installed(name)]
        for each in used
    }
    lacking = [each for each in used if missing[each.name]]
    if lacking:
        found = [name for each in lacking for name in missing[each.name]]
        packages = ", ".join(dict.fromkeys(found))
        extras = ",".join(dict.fromkeys(str(each.extra) for each in lacking))
        names = [each.name for each in lacking]
        raise ConfigError(
            f"{', '.join(names)}: packages aren't installed ({packages}); run pip "
            f"install 'agent-runtime[{extras}]', or set {variable_of('without')} to "
            f"{','.join(names)}"
        )


def extra_with(module: str) -> str | None:
    """Return the extra that brings a module, or one that contains it; None for none."""
    return next(
        (
            each.extra
            for each in OPTIONAL
            if any(f"{name}.".startswith(f"{module}.") for name in each.requires)
        ),
        None,
    )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        # Not even the package that it is in.
        return False

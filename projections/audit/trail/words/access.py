"""Words about users, agents, connectors, tool rules, secrets and readings."""

from collections.abc import Callable, Mapping
from typing import Any, Final

Named = Callable[[str], str]

SHOWN_MAX: Final = 10


def _rules(event: Any, named: Named) -> str:
    lists = [
        f"{named(connector)}: {_stances(stances)}"
        for connector, stances in event.rules.items()
    ]
    return f"replaced tool rules of agent {named(event.agent_id)}: {_some(lists, '; ')}"


def _stances(stances: Mapping[str, str]) -> str:
    said = [f"{stance} {pattern}" for pattern, stance in stances.items()]
    return _some(said, ", ") if said else "none"


def _reading(event: Any, _named: Named) -> str:
    asked = [f"{name} {value}" for name, value in event.asked.items()]
    what = event.operation.removeprefix("get_").replace("_", " ")
    return f"read history: {what}" + (f", {_some(asked, ', ')}" if asked else "")


def _some(words: list[str], between: str) -> str:
    shown = between.join(words[:SHOWN_MAX])
    more = len(words) - SHOWN_MAX
    return f"{shown}{between}and {more} more" if more > 0 else shown


def _versions(event: Any, _named: Named) -> str:
    numbers = ", ".join(map(str, event.versions))
    return f"destroyed the values of earlier versions: {numbers}"


WORDS: Final[Mapping[str, Callable[[Any, Named], str]]] = {
    "user.created": lambda e, _: f"created the user {e.name}",
    "user.role_granted": lambda e, _: f"granted the role {e.role}",
    "user.role_revoked": lambda e, _: f"revoked the role {e.role}",
    "user.key_destroyed": lambda _e, _n: (
        "destroyed the user's key: nothing sealed for them can be opened any more"
    ),
    "token.issued": lambda e, n: f"issued a token to {n(e.user_id)}, {e.label!r}",
    "token.revoked": lambda _e, _n: "revoked the token",
    "agent.registered": lambda e, n: (
        f"registered the agent {e.name!r}, managed by {n(e.manager_id)}"
    ),
    "agent.manager_appointed": lambda e, n: (
        f"gave {n(e.user_id)} full management of the agent"
    ),
    "agent.manager_dismissed": lambda e, n: (
        f"took full management of the agent from {n(e.user_id)}"
    ),
    "connector.registered": lambda e, n: (
        f"registered the connector {e.name!r} at {e.url}, owned by {n(e.owner_id)}"
    ),
    "connector.made_public": lambda _e, _n: "made the connector public",
    "connector.made_private": lambda _e, _n: "made the connector private",
    "connector.grant_offered": lambda e, n: (
        f"consented for the {e.side} to a grant to agent {n(e.agent_id)}; "
        "the other side's consent is missing"
    ),
    "connector.granted_to_agent": lambda e, n: (
        f"granted the connector to agent {n(e.agent_id)}"
    ),
    "connector.grant_revoked": lambda e, n: (
        f"took the connector, or its offer, back from agent {n(e.agent_id)}"
    ),
    "connector.retired": lambda _e, _n: (
        "retired the connector: no agent holds it any more"
    ),
    "tool_rules.created": lambda e, n: (
        f"began the tool rules of agent {n(e.agent_id)}, with none"
    ),
    "tool_rules.replaced": _rules,
    "tool_rules.cleared": lambda e, n: (
        f"removed all tool rules of agent {n(e.agent_id)}"
    ),
    "secret.created": lambda e, n: f"created {n(e.owner_id)}'s secret {e.name!r}",
    "secret.created_again": lambda e, _: (
        f"created the deleted secret again, as version {e.version}"
    ),
    "secret.overwritten": lambda e, _: (
        f"gave the secret another value, version {e.version}"
    ),
    "secret.restored": lambda e, _: (
        f"gave the secret the value of version {e.restored_version} again, "
        f"as version {e.version}"
    ),
    "secret.revealed": lambda e, _: f"read the secret's value, version {e.version}",
    "secret.versions_destroyed": _versions,
    "secret.deleted": lambda _e, _n: "deleted the secret and destroyed its values",
    "audit.read": _reading,
}

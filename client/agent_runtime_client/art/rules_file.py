"""The file that holds an agent's tool rules: YAML, or JSON, which is YAML too."""

import hashlib
import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple

from agent_runtime_client.art.arguments import read_bytes
from agent_runtime_client.art.errors import UsageError

STANCES: Final = ("deny", "ask", "allow")
HEADER: Final = """\
# Tool rules. Deny overrides ask, ask overrides allow; other tools are denied.
# Connectors that aren't named here keep their rules; naming none removes all rules.
"""


class RulesFile(NamedTuple):
    """The rules of a file, and a digest of its content."""

    agent_id: str
    rules: list[dict[str, str]]
    digest: str


def rules_text(data: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Render an agent's rules, sorted so that a difference shows only changes.

    ``names`` are those of connectors, by id; they are comments.
    """
    connectors: dict[str, dict[str, list[str]]] = {}
    for rule in data["rules"]:
        stances = connectors.setdefault(rule["connector_id"], {})
        stances.setdefault(rule["stance"], []).append(rule["tool_pattern"])
    lines = [HEADER, f"agent_id: {data['agent_id']}\n"]
    lines.append("connectors:\n" if connectors else "connectors: {}\n")
    for connector in sorted(connectors):
        name = names.get(connector)
        lines.append(f"  {connector}:{f'  # {name}' if name else ''}\n")
        for stance in STANCES:
            patterns = sorted(connectors[connector].get(stance, ()))
            lines += [f"    {stance}:\n"] if patterns else []
            # A JSON string is a YAML string, whatever is in it.
            lines += [
                f"      - {json.dumps(each, ensure_ascii=False)}\n" for each in patterns
            ]
    return "".join(lines)


def read_rules(name: str) -> RulesFile:
    """Read a file of rules.

    :raises UsageError: it can't be read, or isn't as ``art rules pull`` writes it
    """
    try:
        content = read_bytes(name)
    except OSError as error:
        raise UsageError(str(error)) from None
    data = _parsed(content, name)
    if not isinstance(data, Mapping) or data.keys() != {"agent_id", "connectors"}:
        raise UsageError(f"{name} needs agent_id and connectors, and nothing else")
    rules: list[dict[str, str]] = []
    for connector, stances in _mapping(data["connectors"], f"{name}: connectors"):
        before = len(rules)
        for stance, patterns in _mapping(stances, f"{name}: {connector}"):
            if stance not in STANCES:
                raise UsageError(
                    f"{name}: {connector} has {stance!r}; it takes {', '.join(STANCES)}"
                )
            if not isinstance(patterns, list) or not all(
                isinstance(each, str) for each in patterns
            ):
                raise UsageError(f"{name}: {connector}.{stance} takes a list of texts")
            rules += [
                {"connector_id": connector, "tool_pattern": each, "stance": stance}
                for each in patterns
            ]
        if len(rules) == before:
            raise UsageError(
                f"{name}: {connector} has no patterns; to remove all of its rules run "
                f"art rules remove-connector {data['agent_id']} {connector}"
            )
    digest = hashlib.sha256(content).hexdigest()
    return RulesFile(str(data["agent_id"]), rules, digest)


def _mapping(value: Any, where: str) -> list[tuple[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise UsageError(f"{where} takes names with what they have")
    return [(str(name), each) for name, each in value.items()]


def _parsed(content: bytes, name: str) -> Any:
    try:
        # An extra of the package.
        yaml: Any = import_module("yaml")
    except ModuleNotFoundError:
        try:
            return json.loads(content)
        except ValueError:
            raise UsageError(
                "to read YAML, install agent-runtime-client[yaml]; JSON needs nothing"
            ) from None
    try:
        return yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise UsageError(f"{name}: {error}") from None

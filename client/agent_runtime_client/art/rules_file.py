"""The file that holds an agent's tool rules: YAML, or JSON, which is YAML too."""

import hashlib
import json
from collections.abc import Callable, Mapping
from importlib import import_module
from shlex import quote
from typing import Any, Final, NamedTuple

from agent_runtime_client.art.errors import UsageError
from agent_runtime_client.art.input import read_bytes
from agent_runtime_client.art.names import id_of, ids_of

STANCES: Final = ("deny", "ask", "allow")
HEADER: Final = """\
# Tool rules. Deny overrides ask, ask overrides allow; other tools are denied.
# Connectors that aren't named here keep their rules; naming none removes all rules.
"""


class RulesFile(NamedTuple):
    """The rules of a file, and a digest of its content.

    Agent and connectors are those of the file, by id or name, until ``with_ids``.
    """

    agent: str
    rules: list[dict[str, str]]
    digest: str

    def with_ids(self, caller: Any) -> "RulesFile":
        """Return the file with ids in place of names.

        The digest is of these ids, too: what names meant to a plan is what it applies.

        :raises NotFoundError: nothing has a name
        :raises UsageError: a name isn't unique, or a connector stands there twice
        """
        agent_id = id_of(caller, "agents", self.agent)
        named = {each["connector_id"] for each in self.rules}
        ids = ids_of(caller, "connectors", sorted(named))
        if len({*ids.values()}) < len(ids):
            raise UsageError("the file has a connector twice, by name and by id")
        if agent_id == self.agent and named == {*ids.values()}:
            return self
        rules = [
            {**each, "connector_id": ids[each["connector_id"]]} for each in self.rules
        ]
        text = json.dumps([self.digest, agent_id, ids], sort_keys=True)
        return RulesFile(agent_id, rules, hashlib.sha256(text.encode()).hexdigest())


def rules_text(
    data: Mapping[str, Any], names: Mapping[str, str], *, agent: str | None = None
) -> str:
    """Render an agent's rules, sorted so that a difference shows only changes.

    ``names`` are those of connectors, by id: comments, but with the name of the agent
    they stand in place of the ids.
    """
    connectors: dict[str, dict[str, list[str]]] = {}
    for rule in data["rules"]:
        stances = connectors.setdefault(rule["connector_id"], {})
        stances.setdefault(rule["stance"], []).append(rule["tool_pattern"])
    lines = [HEADER]
    if agent is None:
        lines.append(f"agent_id: {data['agent_id']}\n")
    else:
        lines.append(f"agent: {_quoted(agent)}\n")
    lines.append("connectors:\n" if connectors else "connectors: {}\n")
    for connector in sorted(
        connectors, key=lambda each: each if agent is None else names.get(each, each)
    ):
        name = names.get(connector)
        if name is None or agent is None:
            lines.append(f"  {connector}:{f'  # {name}' if name else ''}\n")
        else:
            lines.append(f"  {_quoted(name)}:\n")
        for stance in STANCES:
            patterns = sorted(connectors[connector].get(stance, ()))
            lines += [f"    {stance}:\n"] if patterns else []
            lines += [f"      - {_quoted(each)}\n" for each in patterns]
    return "".join(lines)


def _quoted(text: str) -> str:
    # A JSON string is a YAML string, whatever is in it.
    return json.dumps(text, ensure_ascii=False)


def read_rules(name: str) -> RulesFile:
    """Read a file of rules.

    :raises UsageError: it can't be read, or isn't as ``art rules pull`` writes it
    """
    try:
        content = read_bytes(name)
    except OSError as error:
        raise UsageError(str(error)) from None
    data = _parsed(content, name)
    keys = {*data} if isinstance(data, Mapping) else set()
    if keys not in ({"agent_id", "connectors"}, {"agent", "connectors"}):
        raise UsageError(
            f"{name} needs agent or agent_id, and connectors, and nothing else"
        )
    agent = data.get("agent", data.get("agent_id"))
    if not isinstance(agent, str):
        raise UsageError(f"{name}: write the agent {agent!r} in quotes")
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
                f"art rules remove-connector {quote(agent)} {quote(connector)}"
            )
    digest = hashlib.sha256(content).hexdigest()
    return RulesFile(agent, rules, digest)


def _mapping(value: Any, where: str) -> list[tuple[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise UsageError(f"{where} takes names with what they have")
    for name in value:
        # YAML reads on as true, and 1.0 as a number.
        if not isinstance(name, str):
            raise UsageError(f"{where}: write {name!r} in quotes")
    return [*value.items()]


def _parsed(content: bytes, name: str) -> Any:
    try:
        # An extra of the package.
        yaml: Any = import_module("yaml")
    except ModuleNotFoundError:
        try:
            return json.loads(content, object_pairs_hook=_each_once(name))
        except ValueError:
            raise UsageError(
                "to read YAML, install agent-runtime-client[yaml]; JSON needs nothing"
            ) from None
    try:
        _refuse_repeated(yaml.compose(content, Loader=yaml.SafeLoader), name)
        return yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise UsageError(f"{name}: {error}") from None


def _each_once(name: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def made_of(members: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in members:
            if key in made:
                raise UsageError(f"{name}: {key} is there twice")
            made[key] = value
        return made

    return made_of


def _refuse_repeated(node: Any, name: str, depth: int = 3) -> None:
    """Refuse a file that names something twice: YAML keeps only the last one."""
    if getattr(node, "id", None) != "mapping" or depth == 0:
        return
    seen: set[str] = set()
    for key, value in node.value:
        # A key may be a list, which reading the file refuses.
        text = str(key.value)
        if text in seen:
            line = key.start_mark.line + 1
            raise UsageError(f"{name}, line {line}: {text} is there twice")
        seen.add(text)
        _refuse_repeated(value, name, depth - 1)

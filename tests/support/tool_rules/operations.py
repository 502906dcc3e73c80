"""How the walks over all operations call those of tool rules."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final
from urllib.parse import urlencode

from service.tool_rules.body import RULES_MAX
from tests.support.operations.asks import Ask, World, json_ask, whole_page
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_agent_tools                 404      200      404      200     200
    get_tool_explanation            404      200      404      200     200
    get_connector_tools             404      200      404      404     404
    post_tool_rules_preview         403      403      403      200     403
    post_tool_rules_restore         403      403      403      200     403
    bulk_update_tools               403      403      403      200     403
    delete_connector_rules          403      403      403      200     403
"""


async def make(walk: Walk) -> None:
    connector_id = walk.ids["connector_id"]
    rules = [
        rule(connector_id, pattern, stance)
        for pattern, stance in (("issues.*", "allow"), ("*delete*", "ask"))
    ]
    await walk.call("post_tool_rules_preview", {"rules": rules})
    await walk.call("bulk_update_tools", {"rules": rules})
    fewer = [rules[0] | {"stance": "ask"}]
    await walk.call("post_tool_rules_preview", {"rules": fewer})
    await walk.call("post_tool_rules_restore", {"at": walk.position})
    await walk.call("get_agent_tools")
    asked = {"connector_id": connector_id, "tool": "issues.delete"}
    await walk.call("get_tool_explanation", query=asked)
    await walk.call("get_connector_tools")


async def end(walk: Walk) -> None:
    await walk.call("delete_connector_rules")


def rule(connector_id: str, pattern: str, stance: str) -> dict[str, str]:
    return {"connector_id": connector_id, "tool_pattern": pattern, "stance": stance}


def hostile_rules(end: str) -> list[str]:
    """Patterns with many ways to match, each with its own end."""
    return ["*a" * 120 + f"*{number}{end}" for number in range(RULES_MAX)]


PATTERNS: Final[Mapping[str, Callable[[str], list[str]]]] = {
    "stars": lambda stance: hostile_rules(f"?{stance[0]}"),
    "stars to the end": lambda stance: [
        f"{'*a' * 125}{stance[0]}{n:03}*" for n in range(RULES_MAX)
    ],
    "question marks": lambda stance: [
        f"{'?' * 250}{stance[0]}{n}" for n in range(RULES_MAX)
    ],
    "stars and question marks": lambda stance: [
        f"{'*?' * 124}{stance[0]}{n}*" for n in range(RULES_MAX)
    ],
    # Each is looked for at each place of a name; so few that they are compared.
    "long searches": lambda stance: [
        f"*{'a' * 100}{stance[0]}{n:03}*" for n in range(RULES_MAX // 2)
    ],
    "names": lambda stance: [f"{'n' * 250}{stance[0]}{n}" for n in range(RULES_MAX)],
}


def _replace(world: World) -> Iterator[Ask]:
    agent_id, connector_id = world.ids["agent_id"], world.ids["connector_id"]
    for name, patterns in PATTERNS.items():
        for stance in ("allow", "deny"):
            rules = [
                rule(connector_id, pattern, stance) for pattern in patterns(stance)
            ]
            yield json_ask(f"{name}, {stance}", {"rules": rules}, agent_id=agent_id)
        mixed = [
            rule(connector_id, pattern, ("allow", "ask", "deny")[number % 3])
            for number, pattern in enumerate(patterns("mixed"))
        ]
        yield json_ask(f"{name}, mixed", {"rules": mixed}, agent_id=agent_id)
    many = [
        rule(world.connectors[number % len(world.connectors)], f"*{number}", "ask")
        for number in range(RULES_MAX)
    ]
    yield json_ask("many connectors", {"rules": many}, agent_id=agent_id)
    unknown = [
        rule(f"{number:08x}-0000-4000-8000-000000000000", "a", "ask")
        for number in range(RULES_MAX)
    ]
    yield json_ask("unknown connectors", {"rules": unknown}, agent_id=agent_id)
    full = [rule(connector_id, f"x{number}", "ask") for number in range(RULES_MAX)]
    agent_id = world.ids["full_agent_id"]
    yield json_ask("an agent with all rules", {"rules": full}, agent_id=agent_id)


def _preview(world: World) -> Iterator[Ask]:
    yield from _replace(world)
    connector_id, agent_id = world.ids["connector_id"], world.ids["hostile_agent_id"]
    rules = [rule(connector_id, each, "ask") for each in hostile_rules("x")]
    yield json_ask("an agent with hostile rules", {"rules": rules}, agent_id=agent_id)


def _restore(world: World) -> Iterator[Ask]:
    for name in ("hostile_agent_id", "full_agent_id"):
        position = world.positions[name]
        yield json_ask(name, {"at": position}, agent_id=world.ids[name])


def _of_agent(world: World) -> Iterator[Ask]:
    yield Ask(what="10,000 rules", path={"agent_id": world.ids["full_agent_id"]})
    yield Ask(
        what="10,000 rules, then",
        path={"agent_id": world.ids["full_agent_id"]},
        query=urlencode({"at": world.position}),
    )
    yield Ask(what="hostile rules", path={"agent_id": world.ids["hostile_agent_id"]})


def _explain(world: World) -> Iterator[Ask]:
    agent_id = world.ids["hostile_agent_id"]
    for tool in ("a" * 256, "*" * 256, "b"):
        asked = {"connector_id": world.ids["connector_id"], "tool": tool}
        yield Ask(
            what=f"a tool of {tool[0]}",
            path={"agent_id": agent_id},
            query=urlencode(asked),
        )


OPERATIONS = WalkedOperations(
    after=("connectors",),
    make=make,
    end=end,
    access=ACCESS,
    worst={
        "bulk_update_tools": _replace,
        "post_tool_rules_preview": _preview,
        "post_tool_rules_restore": _restore,
        "get_agent_tools": _of_agent,
        "get_tool_explanation": _explain,
        "get_connector_tools": whole_page,
    },
    simple=frozenset(["delete_connector_rules"]),
)

"""What unusual shapes cost, against the usual one in the same run.

    python -m tests.bench.shapes

Usual: operation 1 on 64 agents of two connectors. Then: 600 agents, of which two
connections rarely change the same one at once; connectors that 1,000 agents hold; an
agent with 1,000 rules over 200 connectors; one agent whose rules 64 clients change at
once. Contention that feeds itself shows in single rounds, so the usual shape's worst
one is compared with 600 agents in the same round.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from service.embedded_postgres.server import EmbeddedPostgres
from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.migrate import migrate
from service.resources import open_resources
from service.tool_rules.aggregate import ToolRules
from tests.bench import load, processes
from tests.bench.plan import changing, rule_changes
from tests.bench.stage import fill, new_database
from tests.bench.world import ACTOR, World

USUAL = "64 agents of two connectors"
APART = "600 agents of two connectors"
HELD_BY_MANY = "two connectors that 1,000 agents hold, 64 of these agents"
MANY_RULES = "64 agents with 1,000 rules over 200 connectors each"
HOT = "one agent, 64 clients"
AGENTS = 64
AGENTS_APART = 600
MANY_AGENTS = 1_000
CONNECTORS = 200
RULES_PER_CONNECTOR = 5


async def usual(url: str, folder: Path) -> World:
    return await fill(url, folder, agents=AGENTS, connectors=2)


async def apart(url: str, folder: Path) -> World:
    return await fill(url, folder, agents=AGENTS_APART, connectors=2)


async def held_by_many(url: str, folder: Path) -> World:
    world = await fill(url, folder, agents=MANY_AGENTS, connectors=2)
    return replace(world, agents=world.agents[:AGENTS])


async def many_rules(url: str, folder: Path) -> World:
    world = await fill(url, folder, agents=AGENTS, connectors=CONNECTORS)
    rules = {
        str(connector): {f"area_{n}.*": "ask" for n in range(RULES_PER_CONNECTOR)}
        for connector in world.connectors
    }
    async with open_resources(url, folder) as resources:
        for agent in world.agents:

            async def decide(work: UnitOfWork, agent_id: str = str(agent)) -> None:
                made = ToolRules(agent_id=agent_id)
                made.replace(rules)
                work.save(made)

            await execute(resources.log, decide, metadata=ACTOR, at=datetime.now(UTC))
    return world


async def hot(url: str, folder: Path) -> World:
    return await fill(url, folder, agents=1, connectors=2)


SHAPES = {
    USUAL: usual,
    APART: apart,
    HELD_BY_MANY: held_by_many,
    MANY_RULES: many_rules,
    HOT: hot,
}


def measure(rounds: int, seconds: float) -> Mapping[str, list[load.Load]]:
    found: dict[str, list[load.Load]] = {name: [] for name in SHAPES}
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        postgres = held.enter_context(EmbeddedPostgres.start(folder))
        places = {}
        for number, (name, make) in enumerate(SHAPES.items()):
            own = folder / f"shape{number}"
            own.mkdir(mode=0o700)
            url = new_database(postgres.url, f"shape{number}")
            migrate(url)
            world = asyncio.run(make(url, own))
            plan = rule_changes(world).write(own / "plan")
            api = held.enter_context(processes.service(url, own))
            load.closed_loop(api.url, plan, seconds=2)
            places[name] = (api.url, plan)
        for number in range(rounds):
            names = list(SHAPES) if number % 2 == 0 else list(reversed(SHAPES))
            for name in names:
                url, plan = places[name]
                found[name].append(
                    load.closed_loop(url, changing(plan), seconds=seconds)
                )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.shapes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    found = measure(options.rounds, options.seconds)
    usual_rate = median(each.rate for each in found[USUAL])
    print("| shape | commands /s | of the usual | p50, ms | p99, ms |")
    print("|---|---|---|---|---|")
    for name, loads in found.items():
        rate = median(each.rate for each in loads)
        print(
            f"| {name} | {rate:,.0f} | {rate / usual_rate:.2f} "
            f"| {median(each.p50_ms for each in loads):.1f} "
            f"| {median(each.p99_ms for each in loads):.1f} |"
        )
    rounds = zip(found[USUAL], found[APART], strict=True)
    worst = min(together.rate / apart.rate for together, apart in rounds)
    print(f"\n{USUAL} against {APART}, the worst round: {worst:.2f}")


if __name__ == "__main__":
    main()

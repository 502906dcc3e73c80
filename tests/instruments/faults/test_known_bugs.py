"""Each known bug is found, by the same faults and checks that find none otherwise."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import pytest

from tests.instruments.faults import network, postgres, processes
from tests.instruments.faults.known_bugs import BUGS
from tests.instruments.faults.run import Strike, check, running
from tests.instruments.faults.stage import Cast, set_up
from tests.support.kafka.broker import Broker

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1200)]

# A follower that lost its way never comes to the end.
SETTLE_S = 5.0


@dataclass(frozen=True, slots=True)
class Chance:
    """A run in which a bug may show. ``pause_s`` is a client's, between writes."""

    seed: int
    writes: int
    pause_s: float


# Which commands meet depends on the machine; without pauses and with more of them,
# more do.
CHANCES = (Chance(1, 400, 0.01), Chance(2, 2_000, 0.0), Chance(3, 8_000, 0.0))
HARM: dict[str, Sequence[Strike]] = {
    "acknowledges_before_commit": [postgres.killed],
    "repeats_blindly": [network.commits_lost] * 2,
    "calls_unknown_refused": [network.commits_lost] * 2,
    "saves_position_apart": [processes.followers_killed] * 4,
}
WORDS = {
    "skips_version_check": "doesn't hold",
    "acknowledges_before_commit": "",
    "repeats_blindly": "applied 2 times",
    "calls_unknown_refused": "was refused with 503, and is in the log",
    "keeps_no_receipt": "applied 2 times",
    "tells_the_batchs_position": "was told position",
    "trusts_its_cache": "was seen after",
    "authorizes_from_a_read_table": "doesn't hold",
    "logs_secrets": "a secret stands in clear text",
    "saves_position_apart": "aren't the same",
    "skips_poisoned_events": "aren't the same",
}


async def sooner_or_later(
    found: Callable[[Chance], Awaitable[list[str]]], words: str
) -> None:
    """Expect findings with these words, in one of the runs."""
    others = []
    for chance in CHANCES:
        findings = await found(chance)
        if any(words in each for each in findings):
            return
        others.append(findings)
    pytest.fail(f"not found in {len(CHANCES)} runs, which found: {others}")


@pytest.mark.parametrize("name", [n for n, bug in BUGS.items() if bug.kind != "relay"])
async def test_a_known_bug_is_found(name: str) -> None:
    kind = BUGS[name].kind
    follows = kind == "followers"
    cast = Cast(apis=1 if follows else 2, followers=int(follows), bugs={kind: name})

    async def found(chance: Chance) -> list[str]:
        async with set_up(cast) as stage:
            async with running(stage, seed=chance.seed, pause_s=chance.pause_s) as run:
                for fault in HARM.get(name, ()):
                    await run.strike(fault)
                await run.load.until_acknowledged(
                    chance.writes, timeout_s=60 * stage.slowness
                )
            return list(await check(run, with_audit=False, settle_s=SETTLE_S))

    await sooner_or_later(found, WORDS[name])


@pytest.mark.kafka
@pytest.mark.parametrize("name", [n for n, bug in BUGS.items() if bug.kind == "relay"])
async def test_a_known_bug_of_the_relay_is_found(
    frail_broker: Broker, name: str
) -> None:
    relays = 2 if name == "relay_reads_before_it_fences" else 1
    cast = Cast(apis=1, followers=0, relays=relays, bugs={"relay": name})

    async def found(chance: Chance) -> list[str]:
        async with set_up(cast, broker=frail_broker) as stage:
            async with running(stage, seed=chance.seed, pause_s=chance.pause_s) as run:
                await asyncio.sleep(6 if relays > 1 else 0)
                await run.load.until_acknowledged(
                    chance.writes, timeout_s=60 * stage.slowness
                )
            # Rivals fence each other forever; one of them ends the work.
            for rival in stage.relays[1:]:
                rival.kill()
            return list(await check(run, settle_s=4 * SETTLE_S))

    await sooner_or_later(found, "the topic isn't the log")

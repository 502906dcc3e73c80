"""The commands of docs/operations/fail-over.md on a cluster without load."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.instruments.faults.failover.cluster import Cluster
from tests.instruments.faults.failover.faults import WHOLE_TIMEOUT_S
from tests.instruments.faults.failover.machine import CONFIGURATION, Machine
from tests.instruments.faults.failover.stage import STEP_S, until_whole
from tests.support.project import ROOT
from tests.support.waiting import until

pytestmark = [pytest.mark.faults, pytest.mark.timeout(2400)]

PAGE = (ROOT / "docs/operations/fail-over.md").read_text(encoding="utf-8")


async def until_primary(cluster: Cluster, *, other_than: Machine | None = None) -> None:
    def is_there() -> bool:
        found = cluster.primary()
        return found is not None and found is not other_than

    await until(
        lambda: asyncio.to_thread(is_there),
        timeout_s=WHOLE_TIMEOUT_S,
        step_s=STEP_S,
    )


async def ctl(cluster: Cluster, command: str, **names: str) -> str:
    """Run a command as the page shows it, with other names of machines."""
    assert f"patronictl {command}`" in PAGE, "the page shows another command"
    words = [names.get(each, each) for each in command.split()]
    return await asyncio.to_thread(cluster.patronictl, *words)


async def until_listed(cluster: Cluster, *, leaders: int, standbys: int) -> None:
    async def is_listed() -> bool:
        listed = await ctl(cluster, "list")
        counts = (listed.count("Leader"), listed.count("Quorum Standby"))
        return counts == (leaders, standbys)

    await until(is_listed, timeout_s=WHOLE_TIMEOUT_S, step_s=STEP_S)


async def until_in_history(cluster: Cluster, machine: Machine) -> None:
    async def is_there() -> bool:
        return machine.name in await ctl(cluster, "history")

    await until(is_there, timeout_s=WHOLE_TIMEOUT_S, step_s=STEP_S)


async def roles(cluster: Cluster) -> tuple[Machine, Machine]:
    """Return the primary and a standby, of a whole cluster."""
    await until_whole(cluster)
    primary = await asyncio.to_thread(cluster.primary)
    assert primary is not None
    return primary, next(each for each in cluster.machines if each is not primary)


def test_the_configuration_is_valid(cluster: Cluster, tmp_path: Path) -> None:
    done = validate(cluster, CONFIGURATION)

    assert done.returncode == 0, done.stdout + done.stderr

    wrong = tmp_path / "patroni.yaml"
    wrong.write_text(CONFIGURATION.read_text().replace("ttl: 20", "ttl: 2"))
    assert validate(cluster, wrong).returncode != 0


def test_the_environment_of_a_machine_is_the_documented_one(cluster: Cluster) -> None:
    documented = {
        line.split("=")[0]
        for line in CONFIGURATION.with_name("machine.env.example")
        .read_text()
        .splitlines()
        if line and not line.startswith("#")
    }
    own = {each for each in cluster.machines[0].environment if "PATRONI" in each}

    assert own - documented == {"PATRONI_ETCD3_USE_PROXIES"}
    assert documented - own == set()


async def test_an_operator_switches_over_and_watches(cluster: Cluster) -> None:
    primary, standby = await roles(cluster)

    await ctl(
        cluster,
        "switchover --leader db1 --candidate db2 --force",
        db1=primary.name,
        db2=standby.name,
    )
    await until_whole(cluster)

    assert standby.is_primary
    # Patroni writes down a moment later who a standby of the quorum is.
    await until_listed(cluster, leaders=1, standbys=2)
    await until_in_history(cluster, standby)


async def test_paused_patroni_fails_over_only_by_hand(cluster: Cluster) -> None:
    primary, standby = await roles(cluster)

    await ctl(cluster, "pause --wait")
    primary.kill_postgres()
    await until(lambda: asyncio.to_thread(lambda: cluster.primary() is None))
    await ctl(cluster, "failover --candidate db2 --force", db2=standby.name)
    await until_primary(cluster, other_than=primary)
    await ctl(cluster, "resume --wait")
    await until_whole(cluster)

    assert standby.is_primary


async def test_a_machine_is_copied_again_or_replaced(cluster: Cluster) -> None:
    _, standby = await roles(cluster)

    await ctl(cluster, "reinit agent-runtime db1 --force", db1=standby.name)
    await until_whole(cluster)
    standby.kill()
    shutil.rmtree(standby.data)
    standby.start()
    await until_whole(cluster)


def validate(cluster: Cluster, file: Path) -> "subprocess.CompletedProcess[str]":
    """Validate a file with the environment of a machine that isn't on loopback."""
    machine = cluster.machines[0]
    elsewhere = {
        name: "db1.internal:1"
        for name in machine.environment
        if name.endswith("CONNECT_ADDRESS")
    }
    return subprocess.run(
        [cluster.programs / "patroni", "--validate-config", "-i", file],
        env={**machine.environment, **elsewhere},
        capture_output=True,
        text=True,
        check=False,
    )

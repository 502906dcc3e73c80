"""The cluster: etcd, three machines, and the commands of an operator."""

import contextlib
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import psycopg

from service.embedded_postgres.processes import ENVIRONMENT
from tests.instruments.faults.failover.link import HOST, Network
from tests.instruments.faults.failover.machine import (
    CONFIGURATION,
    PASSWORD,
    Machine,
    Ports,
)
from tests.instruments.faults.tools import MissingToolError, require
from tests.support.harness.environment import MissingError, installed_from
from tests.support.harness.process import Process, free_ports
from tests.support.harness.replicated_postgres import (
    TEMPORARY,
    as_server_account,
    new_folder,
)
from tests.support.project import ROOT
from tests.support.waiting import until_blocking

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
INSTALLED = ROOT / ".patroni"
DATABASE = "agent_runtime"
NAMES = ("db1", "db2", "db3")
COMMAND_TIMEOUT_S = 120.0
FOLLOWS = {"streaming", "running"}
MEMORY_MIN = 8 << 30


class Etcd(Process):
    """One member, as PostgreSQL's user; keeps its data over a restart."""

    def __init__(self, folder: Path, program: str) -> None:
        self.port, peer = free_ports(2)
        client_url, peer_url = (f"http://{HOST}:{port}" for port in (self.port, peer))
        super().__init__(
            [
                *(*as_server_account(folder), program),
                *("--name", "etcd1", "--data-dir", folder / "etcd"),
                *("--listen-client-urls", client_url),
                *("--advertise-client-urls", client_url),
                *("--listen-peer-urls", peer_url),
                *("--initial-advertise-peer-urls", peer_url),
                *("--initial-cluster", f"etcd1={peer_url}"),
            ],
            folder / "etcd.log",
            environment=ENVIRONMENT,
            folder=folder,
        )

    def wait_until_ready(self) -> None:
        """Wait until its version is decided: a Patroni that finds it undecided ends."""
        until_blocking(self._has_version)

    def _has_version(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.port}/version") as reply:
                return bool(orjson.loads(reply.read())["etcdcluster"] != "not_decided")
        except OSError:
            return False


@dataclass(slots=True, kw_only=True)
class Cluster:
    folder: Path
    programs: Path
    network: Network
    etcd: Etcd
    machines: Sequence[Machine]

    @property
    def url(self) -> str:
        """The URL of the service's database on whichever machine is the primary."""
        return self.url_of(DATABASE, DATABASE)

    def url_of(self, user: str, database: str) -> str:
        hosts = ",".join(f"{HOST}:{each.postgres.port}" for each in self.machines)
        return (
            f"postgresql://{user}:{PASSWORD}@{hosts}/{database}"
            "?target_session_attrs=primary&connect_timeout=5"
        )

    def machine(self, name: str) -> Machine:
        return next(each for each in self.machines if each.name == name)

    def primary(self) -> Machine | None:
        return next((each for each in self.machines if each.is_primary), None)

    def members(self) -> list[dict[str, Any]]:
        """Return what Patroni tells about its members; empty if none answers."""
        for each in self.machines:
            status, answer = each.ask("/cluster")
            if status == 200:
                return list(answer["members"])
        return []

    def is_whole(self) -> bool:
        """Say whether there are a primary and two standbys that may be promoted."""
        members = self.members()
        roles = sorted(each["role"] for each in members)
        return roles == ["leader", "quorum_standby", "quorum_standby"] and (
            {each["state"] for each in members} <= FOLLOWS
        )

    def patronictl(self, *arguments: str, check: bool = True) -> str:
        """Run an operator's command on the first machine; return what it writes."""
        done = subprocess.run(
            [self.programs / "patronictl", "-c", CONFIGURATION, *arguments],
            env={**self.machines[0].environment, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
        if check and done.returncode:
            raise AssertionError(f"patronictl {arguments}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let no machine take over meanwhile, as one does when all are too busy."""
        self.patronictl("pause", "--wait")
        try:
            yield
        finally:
            self.patronictl("resume", "--wait")

    def log_tails(self) -> str:
        return "\n".join(
            f"{each.name}: {each.patroni.log_tail()}" for each in self.machines
        )


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Start etcd and three machines; the caller waits until they are a cluster.

    :raises MissingToolError: there is no etcd, or no Patroni
    """
    etcd_program, programs = tools()
    with ExitStack() as stack:
        network = stack.enter_context(Network().running())
        parent = _parent()
        folder = stack.enter_context(new_folder("cluster", parent))
        etcd = Etcd(folder, etcd_program)
        stack.callback(etcd.kill)
        etcd.start()
        etcd.wait_until_ready()
        machines = []
        for name in NAMES:
            ports = free_ports(5)
            rest, postgres, *links = ports
            machine = Machine(
                name=name,
                folder=stack.enter_context(new_folder(name, parent)),
                programs=programs,
                ports=Ports(rest=rest, postgres=postgres),
                etcd=network.link(links[0], etcd.port),
                rest=network.link(links[1], rest),
                postgres=network.link(links[2], postgres),
            )
            stack.callback(machine.kill)
            machines.append(machine)
            machine.start()
        stack.enter_context(_ended_with_us([each.folder for each in machines]))
        yield Cluster(
            folder=folder,
            programs=programs,
            network=network,
            etcd=etcd,
            machines=machines,
        )


def tools() -> tuple[str, Path]:
    """Return the program of etcd, and the folder of Patroni's.

    :raises MissingToolError: there is none
    """
    if shutil.which("etcd") is None:
        raise MissingToolError("there is no etcd: apt-get install etcd-server")
    try:
        patroni = installed_from(REQUIREMENTS, INSTALLED)
    except MissingError as error:
        raise MissingToolError(f"Patroni can't be installed: {error}") from None
    return require("etcd"), patroni / "bin"


def _parent() -> str:
    """Return where the files stand: in memory, if there is enough.

    No fault here loses what the kernel has, and three servers on one disk would wait
    for each other.
    """
    memory = Path("/dev/shm")  # noqa: S108
    if memory.is_dir() and shutil.disk_usage(memory).free > MEMORY_MIN:
        return str(memory)
    return TEMPORARY


def create_database(cluster: Cluster) -> None:
    """Prepare the database as docs/operations/database.md says.

    One that is there is dropped before.
    """
    text = (ROOT / "docs/operations/database.md").read_text(encoding="utf-8")
    prepare = text.split("A superuser prepares it once:\n\n```sql\n")[1].split("```")[0]
    with psycopg.connect(
        cluster.url_of("postgres", "postgres"), autocommit=True
    ) as database:
        database.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)".encode())
        for statement in prepare.replace("'...'", f"'{PASSWORD}'").split(";"):
            if statement.strip():
                with contextlib.suppress(psycopg.errors.DuplicateObject):
                    database.execute(statement.encode())


@contextmanager
def _ended_with_us(folders: Sequence[Path]) -> Iterator[None]:
    """End PostgreSQL when this process is killed: it has no parent who would."""
    script = (
        'read -r _; for f in "$@"; do'
        ' kill -9 $(head -n 1 "$f/data/postmaster.pid" 2>/dev/null) 2>/dev/null;'
        " done"
    )
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", script, "sh", *map(str, folders)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield
    finally:
        # By now its pids may be others'.
        watcher.kill()
        watcher.wait()
        assert watcher.stdin is not None
        watcher.stdin.close()

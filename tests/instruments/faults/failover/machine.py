"""One machine of the cluster: a PostgreSQL and the Patroni that runs it."""

import base64
import contextlib
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from service.embedded_postgres.binaries import packaged_binaries
from service.embedded_postgres.processes import ENVIRONMENT
from tests.instruments.faults.failover.link import HOST, Link
from tests.support.harness.process import Process
from tests.support.harness.process_tree import children
from tests.support.harness.replicated_postgres import as_server_account
from tests.support.project import ROOT

CONFIGURATION = ROOT / "deploy/patroni/patroni.yaml"
PASSWORD = "of-the-tests"
REST_TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Where its servers listen; others reach them by its links."""

    rest: int
    postgres: int


@dataclass(slots=True, kw_only=True)
class Machine:
    """``etcd``, ``rest`` and ``postgres`` are its links: to etcd, and to itself."""

    name: str
    folder: Path
    programs: Path
    ports: Ports
    etcd: Link
    rest: Link
    postgres: Link
    patroni: Process = field(init=False)

    def __post_init__(self) -> None:
        self.patroni = Process(
            [
                *as_server_account(self.folder, self.programs / "python"),
                self.programs / "patroni",
                CONFIGURATION,
            ],
            self.folder / "patroni.log",
            environment=self.environment,
            folder=self.folder,
        )

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def links(self) -> tuple[Link, ...]:
        return self.etcd, self.rest, self.postgres

    @property
    def environment(self) -> Mapping[str, str]:
        """What deploy/patroni/machine.env.example lists."""
        return ENVIRONMENT | {
            "PATRONI_NAME": self.name,
            "PATRONI_RESTAPI_LISTEN": f"{HOST}:{self.ports.rest}",
            "PATRONI_RESTAPI_CONNECT_ADDRESS": f"{HOST}:{self.rest.port}",
            "PATRONI_RESTAPI_USERNAME": "patroni",
            "PATRONI_RESTAPI_PASSWORD": PASSWORD,
            "PATRONI_POSTGRESQL_LISTEN": f"{HOST}:{self.ports.postgres}",
            "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"{HOST}:{self.postgres.port}",
            "PATRONI_POSTGRESQL_DATA_DIR": str(self.data),
            "PATRONI_POSTGRESQL_BIN_DIR": str(packaged_binaries()),
            "PATRONI_POSTGRESQL_PGPASS": str(self.folder / "pgpass"),
            "PATRONI_ETCD3_HOSTS": f"{HOST}:{self.etcd.port}",
            # Or it would find etcd's own address, and go around the link.
            "PATRONI_ETCD3_USE_PROXIES": "true",
            "PATRONI_SUPERUSER_USERNAME": "postgres",
            "PATRONI_SUPERUSER_PASSWORD": PASSWORD,
            "PATRONI_REPLICATION_USERNAME": "replicator",
            "PATRONI_REPLICATION_PASSWORD": PASSWORD,
        }

    def start(self) -> None:
        self.patroni.start()

    def kill_postgres(self) -> None:
        """End every process of PostgreSQL, and none of Patroni."""
        pids = self._postgres_pids()
        for number in (signal.SIGSTOP, signal.SIGKILL):
            _send(pids, number)

    def kill(self) -> None:
        """Lose the machine: every process at once."""
        pids = self._pids()
        _send(pids, signal.SIGSTOP)
        _send([*pids, *self._pids()], signal.SIGKILL)
        self.patroni.wait()

    def freeze(self) -> None:
        """Stop every process: connections stay open, and nothing answers."""
        _send(self._pids(), signal.SIGSTOP)

    def thaw(self) -> None:
        _send(self._pids(), signal.SIGCONT)

    @property
    def is_primary(self) -> bool:
        return self.ask("/primary")[0] == 200

    def ask(self, path: str, body: Any = None) -> tuple[int, Any]:
        """Call Patroni's HTTP API; status 0 says that it doesn't answer."""
        request = urllib.request.Request(
            f"http://{HOST}:{self.ports.rest}{path}",
            orjson.dumps(body) if body is not None else None,
            {"Authorization": f"Basic {_basic('patroni', PASSWORD)}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=REST_TIMEOUT_S) as reply:  # noqa: S310
                return reply.status, _parsed(reply.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _parsed(error.read())
        except (OSError, ValueError):
            return 0, None

    def _pids(self) -> list[int]:
        patroni = self.patroni.popen
        pids = [patroni.pid] if patroni is not None and self.patroni.is_running else []
        # PostgreSQL isn't Patroni's child, for it goes on without it.
        others = [child for pid in pids for child in children(pid)]
        return [*pids, *others, *self._postgres_pids()]

    def _postgres_pids(self) -> list[int]:
        try:
            first = int((self.data / "postmaster.pid").read_text().split("\n")[0])
            command = Path(f"/proc/{first}/cmdline").read_bytes()
        except (OSError, ValueError):
            return []
        # The id in the file of one that was killed may be another's by now.
        if os.fsencode(self.data) not in command:
            return []
        return [first, *children(first)]


def _send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError:
        return body.decode(errors="replace")

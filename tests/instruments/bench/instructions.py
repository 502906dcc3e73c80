"""Count a request's instructions: ``python -m tests.instruments.bench.instructions``.

Operations 1, 4 and 5, tool calls through the gateway, and their yardsticks run under
callgrind, one request after the other, and exports of agents' spans; operation 1 also
with its own spans exported.
Unlike a rate, the count hardly depends on what else the machine does. ``--check``
fails when an operation takes more instructions, as a multiple of its yardstick's, than
``recorded_instructions.json`` and the tolerance allow; ``--record`` writes that file.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from itertools import cycle, islice
from pathlib import Path
from socket import create_connection, socket
from unittest.mock import patch
from urllib.parse import urlsplit

from tests.instruments.bench import gateway_stage, processes
from tests.instruments.bench.exports import exports
from tests.instruments.bench.plan import Plan, Request
from tests.instruments.bench.span_receiver import span_receiver
from tests.instruments.bench.stage import AGENTS, Size, Stage, set_up
from tests.support.harness.service import Server

RECORDED = Path(__file__).with_name("recorded_instructions.json")
TOLERANCE = 0.05
# Counts of the same code differ by a few per cent, more so while other work is done:
# one beyond the tolerance is repeated, and the lowest counts.
REPEATS_MAX = 2
SIZE = Size(sessions=5_000, sample=0)
WARM_UP = 40
# The lowest of the batches counts: timers run in the others.
BATCHES = 4
BATCH = 40
# So few that the warm-up loads them all; the second half of a plan changes them back.
AGENTS_USED = 10
TIMEOUT_S = 120
CALLGRIND = (
    *("env", "PYTHONHASHSEED=0"),
    *("valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no"),
)


# Start a process with these words before its command.
Start = Callable[[Sequence[str]], AbstractContextManager[Server]]


@dataclass(frozen=True, slots=True)
class Compared:
    """An operation and its yardstick, which takes the same requests or its own."""

    plan: Plan
    ours: Start
    yardstick: Start
    yardstick_plan: Plan | None = None


def operations(stage: Stage) -> dict[str, Compared]:
    folder = stage.folder
    return {
        "operation 1": Compared(
            _changes_of_few(Plan.read(stage.rules)),
            lambda under: processes.service(
                stage.database_url, folder / "rules", program=_service(under)
            ),
            lambda under: processes.bare(folder / "rules.json", under=under),
        ),
        "operation 4": Compared(
            Plan.read(stage.session_list),
            lambda under: processes.service(
                stage.sessions_url, folder / "sessions", program=_service(under)
            ),
            lambda under: processes.page(stage.sessions_url, folder, under=under),
        ),
        "operation 5": Compared(
            Plan.read(stage.catalog),
            lambda under: processes.service(
                stage.database_url, folder / "rules", program=_service(under)
            ),
            lambda under: processes.bare(folder / "catalog.json", under=under),
        ),
    }


def traced(stage: Stage) -> dict[str, Compared]:
    """Return operation 1 with all of its spans exported, against none."""
    folder = stage.folder

    @contextmanager
    def ours(under: Sequence[str]) -> Iterator[Server]:
        with (
            patch.dict(os.environ, {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE": str(4 * BATCH)}),
            span_receiver() as endpoint,
            processes.service(
                stage.database_url,
                folder / "rules",
                options=["--otlp-endpoint", endpoint],
                program=_service(under),
            ) as server,
        ):
            yield server

    operation_1 = operations(stage)["operation 1"]
    return {"operation 1, traced": Compared(operation_1.plan, ours, operation_1.ours)}


def ingest(stage: Stage) -> dict[str, Compared]:
    """Return exports of spans, against rules that are parsed and answered."""
    operation_1 = operations(stage)["operation 1"]
    rules = operation_1.plan
    agent_id = rules.requests[0].path.split("/")[4]
    plan = exports(agent_id, rules.headers["Authorization"])
    return {
        "ingest": Compared(plan, operation_1.ours, operation_1.yardstick, rules),
    }


def tool_calls(stage: gateway_stage.Stage) -> dict[str, Compared]:
    """Return calls of each mode, against calls of their upstream without a gateway."""
    return {
        f"tool call, {mode}": Compared(
            stage.ours[f"{mode}-plain"].plan,
            lambda under: gateway_stage.gateway(
                stage.database_url, stage.folder, program=_service(under)
            ),
            lambda under: gateway_stage.upstream("plain", stage.folder, under=under),
            stage.plain.plan,
        )
        for mode in ("batched", "strict")
    }


def instructions_per_request(start: Start, plan: Plan, output: Path) -> int:
    """Return the lowest count of some batches of requests."""
    with start([*CALLGRIND, f"--callgrind-out-file={output}"]) as server:
        return min(_batches(server, plan, output)) // BATCH


def _batches(server: Server, plan: Plan, output: Path) -> Iterator[int]:
    address = urlsplit(server.url)
    with create_connection(
        (address.hostname or "", address.port or 0), TIMEOUT_S
    ) as connection:
        requests = cycle(plan.requests)
        _send(connection, plan, islice(requests, WARM_UP))
        _control(server, "--instr=on")
        for number in range(1, BATCHES + 2):
            _send(connection, plan, islice(requests, BATCH))
            # Counting starts again with each dump.
            _control(server, "--dump")
            # The first batch counts what callgrind itself meets for the first time.
            if number > 1:
                yield _total(output.with_name(f"{output.name}.{number}"))


def _service(under: Sequence[str]) -> Sequence[str]:
    return (*under, sys.executable, "-m", "tests.instruments.bench.without_timers")


def _changes_of_few(plan: Plan) -> Plan:
    chosen = [
        *plan.requests[:AGENTS_USED],
        *plan.requests[AGENTS : AGENTS + AGENTS_USED],
    ]
    return Plan(plan.headers, chosen)


def _send(connection: socket, plan: Plan, requests: Iterator[Request]) -> None:
    for request in requests:
        # By one write: whether head and body are read together must not depend on
        # what else the machine does.
        connection.sendall(_octets(plan, request))
        answer = HTTPResponse(connection, method=request.method)
        answer.begin()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{request}: {answer.status} {body[:500]!r}")


def _octets(plan: Plan, request: Request) -> bytes:
    headers = {"Host": "127.0.0.1", **plan.headers}
    if request.body:
        headers["Content-Length"] = str(len(request.body))
    lines = [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join([f"{request.method} {request.path} HTTP/1.1", *lines, "", ""])
    return head.encode() + request.body


def _control(server: Server, command: str) -> None:
    subprocess.run(
        ["callgrind_control", command, str(server.pid)],
        check=True,
        capture_output=True,
        timeout=TIMEOUT_S,
    )


def _total(output: Path) -> int:
    for line in output.read_text().splitlines():
        name, _, count = line.partition(": ")
        if name == "totals":
            return int(count)
    raise RuntimeError(f"{output} has no total")


def main() -> int:
    options = _options()
    recorded: dict[str, float] = json.loads(RECORDED.read_text())
    allowed = {name: each * (1 + TOLERANCE) for name, each in recorded.items()}
    limits = allowed if options.check else {}
    ratios: dict[str, float] = {}
    if options.only in (None, "gateway"):
        with gateway_stage.set_up() as gateway:
            ratios |= _ratios(tool_calls(gateway), gateway.folder, limits)
    if options.only != "gateway":
        with set_up(SIZE) as stage:
            for part, compared in (
                ("operations", operations),
                ("ingest", ingest),
                ("traces", traced),
            ):
                if options.only in (None, part):
                    ratios |= _ratios(compared(stage), stage.folder, limits)
    if options.record:
        kept = dict(sorted((recorded | ratios).items()))
        RECORDED.write_text(json.dumps(kept, indent=1) + "\n")
    more = [name for name, limit in limits.items() if ratios.get(name, 0) > limit]
    for name in more:
        print(
            f"{name} takes {ratios[name]} times the instructions of its yardstick,"
            f" recorded were {recorded[name]}"
        )
    return 1 if more else 0


def _ratios(
    compared: Mapping[str, Compared], folder: Path, limits: Mapping[str, float]
) -> dict[str, float]:
    """Return what each takes of its yardstick; repeat those beyond their limits."""
    ratios: dict[str, float] = {}
    for name, each in compared.items():
        for _ in range(1 + REPEATS_MAX):
            ratio = _ratio(name, each, folder)
            ratios[name] = min(ratio, ratios.get(name, ratio))
            if name not in limits or ratios[name] <= limits[name]:
                break
    return ratios


def _ratio(name: str, compared: Compared, folder: Path) -> float:
    output = folder / f"{name.replace(' ', '-')}.callgrind"
    ours = instructions_per_request(
        compared.ours, compared.plan, output.with_suffix(".ours")
    )
    yardstick = instructions_per_request(
        compared.yardstick,
        compared.yardstick_plan or compared.plan,
        output.with_suffix(".yardstick"),
    )
    ratio = round(ours / yardstick, 3)
    print(
        f"{name}: {ours:,} instructions, {ratio} times the yardstick's {yardstick:,}",
        flush=True,
    )
    return ratio


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.instruments.bench.instructions"
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="compare with the record")
    choice.add_argument("--record", action="store_true", help="write the record")
    parser.add_argument(
        "--only",
        choices=("operations", "gateway", "ingest", "traces"),
        help="count these alone",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

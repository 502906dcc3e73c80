"""The processes that are measured, each on a port of its own."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from tests.support.harness.service import AGENT_RUNTIME, Server, running, serving


def service(
    database_url: str,
    data_dir: Path,
    *,
    only: str | None = "api",
    options: Sequence[str] = (),
    program: Sequence[str] = AGENT_RUNTIME,
) -> AbstractContextManager[Server]:
    """Run the service as its command line does; without ``only``, all of it."""
    part = ("--only", only) if only else ()
    return running(
        serving(
            *("--database-url", database_url, "--data-dir", str(data_dir)),
            *(*part, *options),
            log=data_dir / f"{only or 'serve'}.log",
            program=program,
        )
    )


def bare(answers: Path, *, under: Sequence[str] = ()) -> AbstractContextManager[Server]:
    """Run the yardstick; see bare.py. ``under`` comes before the command."""
    command = [
        *under,
        sys.executable,
        "-m",
        "tests.instruments.bench.bare",
        str(answers),
    ]
    return running(Server(command, answers.with_suffix(".log")))


def page(
    database_url: str, folder: Path, *, under: Sequence[str] = ()
) -> AbstractContextManager[Server]:
    """Run the yardstick of a list; see page.py. ``under`` comes before the command."""
    command = [
        *under,
        sys.executable,
        "-m",
        "tests.instruments.bench.page",
        database_url,
    ]
    return running(Server(command, folder / "page.log"))


def followers(database_url: str, data_dir: Path) -> AbstractContextManager[Server]:
    """Follow the log in a process of its own."""
    return service(database_url, data_dir, only="followers")

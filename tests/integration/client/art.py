"""Runs the command ``art`` as a process, as users and scripts do."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.project import ROOT
from tests.support.terminal import open_terminal


class Run(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Art:
    """The command with the settings of one user."""

    def __init__(self, url: str, token: str | None, home: Path) -> None:
        self._environment = {
            "PATH": os.environ["PATH"],
            # The client of these sources, whichever one is installed.
            "PYTHONPATH": str(ROOT / "client"),
            "HOME": str(home),
            "AGENT_RUNTIME_SERVER": url,
            "COLUMNS": "200",
        }
        if token is not None:
            self._environment["AGENT_RUNTIME_TOKEN"] = token

    async def __call__(
        self, *arguments: object, stdin: bytes = b"", **environment: str
    ) -> Run:
        process = await asyncio.create_subprocess_exec(
            *_command(arguments),
            env={**self._environment, **environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(stdin)
        assert process.returncode is not None
        return Run(process.returncode, out.decode(), err.decode())

    async def on_a_terminal(self, *arguments: object, typed: str) -> Run:
        """Run it with a terminal for input and messages, where somebody types."""
        with open_terminal() as terminal:
            process = await asyncio.create_subprocess_exec(
                *_command(arguments),
                env=self._environment,
                stdin=terminal.device,
                stdout=asyncio.subprocess.PIPE,
                stderr=terminal.device,
            )
            terminal.type(typed)
            out, _ = await process.communicate()
        assert process.returncode is not None
        return Run(process.returncode, out.decode(), terminal.shown)


def _command(arguments: tuple[object, ...]) -> list[str]:
    return [sys.executable, "-m", "agent_runtime_client.art", *map(str, arguments)]

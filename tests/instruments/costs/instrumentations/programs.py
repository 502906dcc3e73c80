"""Record programs that aren't Python: Vercel's AI SDK, Claude Code, and Codex.

They send their spans and log records to the scripted provider.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import playwright

from tests.instruments.costs.instrumentations.coding_agents import (
    CODING_AGENTS,
    TIMEOUT_S,
)
from tests.instruments.costs.instrumentations.provider import Script, running_provider
from tests.instruments.costs.instrumentations.scenarios import (
    ANTHROPIC,
    CHAT,
    GOOGLE,
    RESPONSES,
)

# Its Node.js is a recent one.
NODE: Final = Path(playwright.__file__).parent / "driver" / "node"
VERCEL: Final = Path(__file__).with_name("vercel.mjs")
VERCEL_PACKAGES: Final = ("ai", "@ai-sdk/openai", "@ai-sdk/anthropic", "@ai-sdk/google")


@dataclass(frozen=True, slots=True)
class Program:
    """A program, the API that it asks, what it sends, and who makes its root span.

    It is the AI SDK of a major version, or a coding agent.
    """

    name: str
    api: str
    cases: tuple[str, ...]
    major: str = ""
    root: str = "own"
    signals: tuple[str, ...] = ("traces",)


_APIS: Final = {
    "openai": ("chat", CHAT[:-1]),
    "responses": ("responses", RESPONSES),
    "anthropic": ("anthropic", ANTHROPIC),
    "google": ("google", GOOGLE[:-2]),
}
PROGRAMS: Final = [
    *(
        Program(f"{name}-vercel{major}", api, cases, major)
        for major in ("6", "7")
        for name, (api, cases) in _APIS.items()
    ),
    *(
        Program(
            f"anthropic-vercel{major}-rootless", "anthropic", CHAT[:2], major, "none"
        )
        for major in ("6", "7")
    ),
    Program("claude_code", "anthropic", ANTHROPIC),
    *(
        Program(f"{agent}-{name}", api, cases, signals=signals)
        for name, signals in (("logs", ("logs",)), ("logs-spans", ("logs", "traces")))
        for agent, api, cases in (
            ("claude_code", "anthropic", (*ANTHROPIC, "tools")),
            ("codex", "responses", (*RESPONSES, "tools")),
        )
    ),
]


def run_program(program: Program, environments: Path) -> Any:
    """Return the recording of a program's cases."""
    sessions = {}
    names: tuple[str, ...]
    with running_provider() as (url, script):
        for case in program.cases:
            if program.major:
                folder = environments / f"vercel{program.major}"
                names = VERCEL_PACKAGES
                _run_vercel(program, case, folder, url)
            else:
                folder = environments / "agents"
                package, run = CODING_AGENTS[program.name.partition("-")[0]]
                names = (package,)
                script.begin(case)
                run(folder, script, url, program.signals)
            sessions[case] = {"answers": script.answers, "export": _export(script)}
    packages = {name: _version(folder / "node_modules" / name) for name in names}
    return {"packages": packages, "sessions": sessions}


def _run_vercel(program: Program, case: str, folder: Path, url: str) -> None:
    asked = (url, program.api, program.major, program.root, case)
    subprocess.run([NODE, VERCEL, folder, *asked], check=True, timeout=TIMEOUT_S)


def _export(script: Script) -> dict[str, Any]:
    """Return what was sent as one request of each signal; of none, nothing."""
    sent = {"resourceSpans": script.exports, "resourceLogs": script.logs}
    return {
        name: [resource for each in bodies for resource in each[name]]
        for name, bodies in sent.items()
        if bodies
    }


def _version(package: Path) -> str:
    version: str = json.loads((package / "package.json").read_text())["version"]
    return version

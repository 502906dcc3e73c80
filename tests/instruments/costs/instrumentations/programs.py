"""Record programs that aren't Python: Vercel's AI SDK, and Claude Code.

They send their spans to the scripted provider.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import playwright

from tests.instruments.costs.instrumentations.cases import ANSWERS, QUESTIONS
from tests.instruments.costs.instrumentations.provider import Script, running_provider
from tests.instruments.costs.instrumentations.scenarios import (
    ANTHROPIC,
    CHAT,
    GOOGLE,
    RESPONSES,
)

TIMEOUT_S: Final = 120
AGENT_ID: Final = "6f2d2f4e-94a2-4a2e-8a52-3b0c6f4b8a10"
# Its Node.js is a recent one.
NODE: Final = Path(playwright.__file__).parent / "driver" / "node"
VERCEL: Final = Path(__file__).with_name("vercel.mjs")
CLAUDE: Final = "lib/python*/site-packages/claude_agent_sdk/_bundled/claude"


@dataclass(frozen=True, slots=True)
class Program:
    """A program, the API that it asks, and whether a root span is around it."""

    name: str
    api: str
    cases: tuple[str, ...]
    major: str = ""
    root: str = "own"


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
]


def run_program(program: Program, environments: Path) -> Any:
    """Return the recording of a program's cases."""
    sessions = {}
    packages = {}
    with running_provider() as (url, script):
        for case in program.cases:
            if program.major:
                folder = environments / f"vercel{program.major}"
                packages = _vercel(program, case, folder, url)
            else:
                packages = _claude_code(case, environments / "python", url, script)
            resources = [each["resourceSpans"] for each in script.exports]
            sessions[case] = {
                "answers": script.answers,
                "export": {"resourceSpans": [r for each in resources for r in each]},
            }
    return {"packages": packages, "sessions": sessions}


def _vercel(program: Program, case: str, folder: Path, url: str) -> dict[str, str]:
    asked = (url, program.api, program.major, program.root, case)
    subprocess.run([NODE, VERCEL, folder, *asked], check=True, timeout=TIMEOUT_S)
    names = ("ai", "@ai-sdk/openai", "@ai-sdk/anthropic", "@ai-sdk/google")
    return {
        name: json.loads((folder / "node_modules" / name / "package.json").read_text())[
            "version"
        ]
        for name in names
    }


def _claude_code(case: str, python: Path, url: str, script: Script) -> dict[str, str]:
    (program,) = python.glob(CLAUDE)
    script.begin(case)
    settings = {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_LOG_USER_PROMPTS": "1",
        "OTEL_RESOURCE_ATTRIBUTES": f"agent_runtime.agent_id={AGENT_ID}",
    }
    session: list[str] = []
    with TemporaryDirectory() as home:
        for turn, question in enumerate(QUESTIONS):
            script.turn = turn
            asked = ["-p", question, "--model", "claude-sonnet-4-5", *session]
            done = subprocess.run(
                [program, *asked, "--output-format", "json"],
                env={**os.environ, **settings, "HOME": home},
                cwd=home,
                check=True,
                capture_output=True,
                timeout=TIMEOUT_S,
            )
            found = json.loads(done.stdout)
            if found["result"] != ANSWERS[turn]:
                sys.exit(f"Claude Code answered {found['result']}")
            session = ["--resume", found["session_id"]]
        version = subprocess.run(
            [program, "--version"],
            check=True,
            capture_output=True,
            timeout=TIMEOUT_S,
            env={**os.environ, "HOME": home},
        ).stdout.decode()
    return {"claude-code": version.split()[0]}

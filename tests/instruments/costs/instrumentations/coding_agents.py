"""Run Claude Code and Codex, which send what they report to the scripted provider."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.instruments.costs.instrumentations.cases import ANSWERS, CASES, QUESTIONS
from tests.instruments.costs.instrumentations.provider import Script

TIMEOUT_S: Final = 120
AGENT_ID: Final = "6f2d2f4e-94a2-4a2e-8a52-3b0c6f4b8a10"
HOME: Final = "home-of-agent-"
CLAUDE_CODE: Final = "node_modules/@anthropic-ai/claude-code-*/claude"
CODEX: Final = "node_modules/@openai/codex-*/vendor/*/bin/codex"
# Codex knows it, and genai-prices has its tiers.
CODEX_MODEL: Final = "gpt-5.5"

Run = Callable[[Path, Script, str, tuple[str, ...]], None]


def _run_claude_code(
    folder: Path, script: Script, url: str, signals: tuple[str, ...]
) -> None:
    (program,) = folder.glob(CLAUDE_CODE)
    settings = {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
        "OTEL_LOGS_EXPORTER": "otlp" if "logs" in signals else "none",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOG_USER_PROMPTS": "1",
    }
    if "traces" in signals:
        settings["CLAUDE_CODE_ENHANCED_TELEMETRY_BETA"] = "1"
        settings["OTEL_TRACES_EXPORTER"] = "otlp"
    session: list[str] = []
    with TemporaryDirectory(prefix=HOME) as home:
        for turn, question in enumerate(QUESTIONS):
            script.turn = turn
            asked = ["-p", question, "--model", "claude-sonnet-4-5", *session]
            out = _run([program, *asked, "--output-format", "json"], home, settings)
            found = json.loads(out)
            _check(found["result"], turn)
            session = ["--resume", found["session_id"]]


def _run_codex(
    folder: Path, script: Script, url: str, signals: tuple[str, ...]
) -> None:
    (program,) = folder.glob(CODEX)
    session: list[str] = []
    with TemporaryDirectory(prefix=HOME) as home:
        config = _codex_config(script.case, url, signals)
        Path(home, "config.toml").write_text(config)
        for turn, question in enumerate(QUESTIONS):
            script.turn = turn
            run = [program, "exec", "--skip-git-repo-check", "--json", *session]
            settings = {"OPENAI_API_KEY": "none", "CODEX_HOME": home}
            out = _run([*run, question], home, settings)
            items = [json.loads(line).get("item", {}) for line in out.splitlines()]
            said = [x["text"] for x in items if x.get("type") == "agent_message"]
            _check(said[-1], turn)
            session = ["resume", "--last"]
    script.exports = _with_usage(script.exports)


def _codex_config(case: str, url: str, signals: tuple[str, ...]) -> str:
    def exporter(signal: str) -> str:
        to = f'{{ endpoint = "{url}/v1/{signal}", protocol = "json" }}'
        return f"{{ otlp-http = {to} }}" if signal in signals else '"none"'

    tier = CASES[case].tier
    searches = CASES[case].turns[0].searches
    return f"""
model = "{CODEX_MODEL}"
model_provider = "scripted"
{f'service_tier = "{tier}"' if tier else ""}
{'web_search = "live"' if searches else ""}

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"

# They would be looked for on other hosts.
[features]
plugins = false

[otel]
log_user_prompt = true
exporter = {exporter("logs")}
trace_exporter = {exporter("traces")}
metrics_exporter = "none"
"""


def _run(command: list[Any], home: str, settings: dict[str, str]) -> bytes:
    own = {
        "HOME": home,
        "OTEL_RESOURCE_ATTRIBUTES": f"agent_runtime.agent_id={AGENT_ID}",
    }
    return subprocess.run(
        command,
        env={**os.environ, **own, **settings},
        cwd=home,
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
    ).stdout


def _check(answer: str, turn: int) -> None:
    if answer != ANSWERS[turn]:
        sys.exit(f"a coding agent answered {answer}")


def _with_usage(exports: list[Any]) -> list[Any]:
    """Keep the spans that count tokens, and those around them up to the root.

    Codex sends hundreds of other spans, of its own work. Those stay that have an
    attribute whose name has to do with tokens or usage, and their ancestors.
    """
    scopes = [
        scope
        for export in exports
        for resource in export["resourceSpans"]
        for scope in resource["scopeSpans"]
    ]
    spans = {span["spanId"]: span for scope in scopes for span in scope["spans"]}
    kept = set()
    for span in spans.values():
        if any("token" in x["key"] or "usage" in x["key"] for x in span["attributes"]):
            found = span
            while found:
                kept.add(found["spanId"])
                found = spans.get(found["parentSpanId"])
    for scope in scopes:
        scope["spans"] = [span for span in scope["spans"] if span["spanId"] in kept]
    return exports


# The package of each, and what runs a session of two turns.
CODING_AGENTS: Final[dict[str, tuple[str, Run]]] = {
    "claude_code": ("@anthropic-ai/claude-code", _run_claude_code),
    "codex": ("@openai/codex", _run_codex),
}

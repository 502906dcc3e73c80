"""Claude Code and Codex, run as a script would."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.instruments.model_clients.running import (
    PROGRAMS,
    Transcripts,
    new_home,
    said_by,
)
from tests.instruments.model_clients.scenarios import MODEL, PICTURE, prompt
from tests.instruments.model_clients.ways import Place

CODEX: Final = """\
model = "{model}"
model_provider = "own"
check_for_update_on_startup = false
[model_providers.own]
name = "own"
base_url = "{url}"
env_key = "OWN_KEY"
wire_api = "responses"
stream_max_retries = 1
stream_idle_timeout_ms = 5000
[analytics]
enabled = false
"""


async def claude_code(places: Sequence[Place], folder: Path) -> Transcripts:
    command = [str(PROGRAMS / "claude"), "--model", MODEL, "--verbose"]
    command += ["--output-format", "stream-json", "--print"]
    return {
        place.scenario: _lines(
            await said_by(
                [*command, prompt(place.scenario)],
                new_home(folder),
                {
                    "ANTHROPIC_BASE_URL": place.anthropic,
                    "ANTHROPIC_AUTH_TOKEN": place.key,
                    "CLAUDE_CODE_MAX_RETRIES": "2",
                },
            )
        )
        for place in places
    }


async def codex(places: Sequence[Place], folder: Path) -> Transcripts:
    found = {}
    for place in places:
        home = new_home(folder)
        settings = home / ".codex" / "config.toml"
        settings.parent.mkdir()
        settings.write_text(CODEX.format(model=MODEL, url=place.openai))
        command = [str(PROGRAMS / "codex"), "exec", "--skip-git-repo-check", "--json"]
        if place.scenario == "images":
            picture = home / "picture.png"
            picture.write_bytes(base64.b64decode(PICTURE))
            command += [f"--image={picture}"]
        said = await said_by(
            [*command, prompt(place.scenario)], home, {"OWN_KEY": place.key}
        )
        found[place.scenario] = _lines(said)
    return found


def _lines(said: str) -> list[Any]:
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]

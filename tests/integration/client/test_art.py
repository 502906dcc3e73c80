"""The command ``art`` against the service."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient

from agent_runtime_client import AgentRuntime
from agent_runtime_client.art.things import AREAS, OTHERS, THINGS, methods_of
from tests.integration.client.art import Art
from tests.integration.client.conftest import url_of
from tests.support.callers import Caller, Callers


async def test_things_are_created_and_listed(art: Art) -> None:
    made = await art("agents", "create", "Triage", "--description", "x", "--yes")
    listed = await art("agents", "list", "--output", "jsonl")
    table = await art("agents", "list", "--output", "table")

    assert made.code == 0, made.err
    (line,) = listed.out.splitlines()
    assert json.loads(line) == made.data
    assert "Triage" in table.out
    assert table.out.startswith("id ")


async def test_a_list_ends_at_its_limit_and_says_so(art: Art, ada: Caller) -> None:
    for name in "abc":
        await ada.post("/api/catalog/agents", {"name": name})

    run = await art("agents", "list", "--limit", 2)

    assert len(run.data) == 2
    assert "more than 2" in run.err


async def test_json_is_the_data_as_the_service_sent_it(art: Art, ada: Caller) -> None:
    await ada.post("/api/llm-router/providers", {"key": "p", "display_name": "P"})
    price = {"provider": "p", "model": "m", "input_price_per_1m": "0.10"}
    assert (await ada.post("/api/llm-router/prices", price)).status == 201
    sent = await ada.get("/api/llm-router/prices?provider=p&model=m")

    run = await art("prices", "history", "p", "m")

    assert run.data == sent.data["prices"]
    raw = await art("api", "GET", "/api/llm-router/prices?provider=p&model=m")
    assert raw.data == sent.data


async def test_a_secret_comes_from_standard_input_and_is_never_shown(art: Art) -> None:
    shown = await art("secrets", "create", "openai", "--dry-run", stdin=b"sk-1\n")
    made = await art("secrets", "create", "openai", "--yes", stdin=b"sk-1\n")
    value = await art("secrets", "reveal", "openai")

    assert made.code == 0, made.err
    assert "(hidden)" in shown.err
    assert "sk-1" not in shown.err + shown.out + made.out + made.err
    assert value.data["value"] == "sk-1"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["agents", "show", "00000000-0000-4000-8000-000000000000"], 3),
        (["api", "GET", "/api/nothing"], 3),
        (["users", "create", "", "--yes"], 1),
        (["agents", "show"], 2),
        (["sessions", "list", "--limit", "many"], 2),
        (["rules", "plan", "/does/not/exist"], 2),
        (["agents", "list", "--server", "nowhere"], 2),
        (["agents", "list", "--token-file", "/does/not/exist"], 2),
    ],
)
async def test_exit_codes(art: Art, arguments: list[str], code: int) -> None:
    run = await art(*arguments)

    assert run.code == code, run.err
    assert "Traceback" not in run.err


async def test_refusals_of_the_token_and_of_the_connection(
    art: Art, callers: Callers, client: TestClient, tmp_path: Path
) -> None:
    eve = await callers.user("eve")
    unknown = await art("agents", "list", AGENT_RUNTIME_TOKEN="wrong")
    broken = await art("agents", "list", AGENT_RUNTIME_TOKEN="art_x\nart_y")
    forbidden = await art("audit", "list", AGENT_RUNTIME_TOKEN=eve.token or "")
    nobody = await Art("http://127.0.0.1:9", "x", tmp_path)("agents", "list")
    without = await Art(url_of(client), None, tmp_path)("agents", "list")

    assert (unknown.code, forbidden.code, nobody.code) == (4, 4, 6)
    assert broken.code == 2
    assert "art_" not in broken.err
    assert json.loads(forbidden.err)["code"] == "forbidden"
    assert json.loads(nobody.err)["code"] == "connection_failed"
    reached = json.loads(nobody.err)["message"]
    asked = "can't reach http://127.0.0.1:9 (AGENT_RUNTIME_SERVER): no answer to GET "
    assert reached.startswith(f"{asked}/api/catalog/agents (ConnectError: ")
    assert "the token is from AGENT_RUNTIME_TOKEN" in unknown.err
    assert without.code == 4
    assert "no token was given; set AGENT_RUNTIME_TOKEN_FILE" in without.err


async def test_settings_come_from_a_private_file(
    client: TestClient, ada: Caller, tmp_path: Path
) -> None:
    file = tmp_path / ".config" / "agent-runtime" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        f'default = "here"\n[servers.here]\nurl = "{url_of(client)}"\n'
        f'token = "{ada.token}"\n'
    )
    art = Art("", None, tmp_path)

    file.chmod(0o644)
    readable = await art("users", "me")
    file.chmod(0o600)
    found = await art("users", "me")
    named = await art("users", "me", "--server", "here")
    unknown = await art("users", "me", "--server", "there")

    assert readable.code == 2
    assert "chmod 600" in readable.err
    assert found.data["name"] == named.data["name"] == "ada"
    assert unknown.code == 2
    assert "here" in unknown.err


async def test_the_trail_is_exported(art: Art, tmp_path: Path) -> None:
    whole = await art("audit", "export", tmp_path / "trail.jsonl")
    piped = await art("audit", "export", "-", "--csv", "--kind", "user.created")

    assert whole.code == 0, whole.err
    *lines, end = (tmp_path / "trail.jsonl").read_text().splitlines()
    assert json.loads(end) == {"end": {"until_position": len(lines)}}
    assert [json.loads(line)["position"] for line in lines] == [
        *range(1, len(lines) + 1)
    ]
    assert piped.out.startswith("position,")


def test_each_area_of_the_client_is_a_thing() -> None:
    areas = {name for name in dir(AgentRuntime) if not name.startswith("_")}
    methods = {"at_least", "close", "epoch", "position", "with_options"}

    assert {AREAS.get(each, each) for each in THINGS} == (areas - methods)
    for thing in THINGS:
        verbs = [verb for verb, _ in methods_of(thing)]
        assert len(verbs) == len(set(verbs)), thing


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_completion_knows_every_thing(art: Art, shell: str) -> None:
    run = await art("completion", shell)

    assert run.code == 0, run.err
    for name in (*THINGS, *OTHERS, "explain", "make-public", "idempotency-key"):
        assert name in run.out


def test_bash_completes(tmp_path: Path) -> None:
    script = subprocess.run(
        [sys.executable, "-m", "agent_runtime_client.art", "completion", "bash"],
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    (tmp_path / "art.bash").write_text(script)
    asked = (
        f"source {tmp_path / 'art.bash'}; COMP_WORDS=(art rules pl); COMP_CWORD=2; "
        '_art; echo "${COMPREPLY[@]}"'
    )

    done = subprocess.run(
        ["bash", "-c", asked], capture_output=True, check=True, text=True
    )

    assert done.stdout == "plan\n"


def test_help_loads_only_what_it_prints() -> None:
    code = (
        "import sys; from agent_runtime_client.art.parser import build; build([]);"
        "print(*sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        # Measuring coverage loads modules, too.
        env={k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")},
    )

    loaded = done.stdout.split()
    assert "argparse" in loaded
    assert not {"httpx", "json", "agent_runtime_client.models", "asyncio"} & {*loaded}


async def test_a_list_of_numbers_is_one_argument(art: Art, tmp_path: Path) -> None:
    groups = tmp_path / "groups.json"
    groups.write_text("[]")
    make = ("presets", "make", "Coding", groups, "--dry-run", "--fall-back-on")

    shown = await art(*make, "429,529", "--fall-back-on", "503")
    refused = await art(*make, "429,many")

    assert "fall_back_on: - 429 - 529 - 503 " in " ".join(shown.err.split())
    assert (refused.code, "'many' is not a whole number" in refused.err) == (2, True)

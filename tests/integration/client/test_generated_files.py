"""The generated files of the client are current, and load late."""

import subprocess
import sys

from client.generator.write import files
from tests.support.project import ROOT


def test_the_client_is_current() -> None:
    made = files(ROOT)

    old = [
        str(path)
        for path, content in made.items()
        if not (ROOT / path).exists() or (ROOT / path).read_text("utf-8") != content
    ]
    assert old == [], "run: make contract"


def test_importing_loads_no_http() -> None:
    script = "import agent_runtime_client, sys; print('httpx' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT / "client",
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "False"

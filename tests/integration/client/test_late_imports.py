"""The client loads late what only calls need."""

import subprocess
import sys

from tests.support.project import ROOT


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

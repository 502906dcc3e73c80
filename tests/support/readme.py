"""The README, and the shell commands in it."""

import json
import re
from collections.abc import Callable

from tests.support.project import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def shell_blocks() -> list[str]:
    return [block for language, block in FENCE.findall(README) if language == "sh"]


def check_calls(run: Callable[[str], str]) -> None:
    """Check what the calls by curl answer; ``run`` runs a script in a shell."""
    calls = "".join(block for block in shell_blocks() if "curl " in block)
    assert calls
    output = run(calls)
    decoder, answers = json.JSONDecoder(), []
    while output:
        answer, end = decoder.raw_decode(output)
        answers.append(answer)
        output = output[end:].lstrip()
    assert len(answers) == calls.count("curl ")
    *of_the_api, of_the_gateway = answers
    assert [each["status_code"] for each in of_the_api] == [200] * len(of_the_api)
    # In the gateway's protocol; the tools of a new connector come within seconds.
    assert "tools" in of_the_gateway["result"]

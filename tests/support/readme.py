"""The README, and the shell commands in it."""

import re

from tests.support.project import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def shell_blocks() -> list[str]:
    return [block for language, block in FENCE.findall(README) if language == "sh"]

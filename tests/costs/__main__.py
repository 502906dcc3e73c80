"""Print how our costs agree with those of genai-prices and LiteLLM.

Fails when a difference has no reason, and when docs/costs.md shows another table.
"""

import asyncio
import sys
from pathlib import Path

from tests.costs.comparisons import comparisons

DOCUMENT = Path(__file__).parents[2] / "docs" / "costs.md"
HEAD = (
    "| compared with | names | costs | equal | differ with a reason | without |\n"
    "|---|---|---|---|---|---|"
)


async def main() -> int:
    """Return 1 if a comparison falls short of what it must reach."""
    agreements = await comparisons()
    rows = [agreement.row() for agreement in agreements]
    print(HEAD, *rows, "", sep="\n")  # noqa: T201
    for agreement in agreements:
        print("\n".join(agreement.reasons()))  # noqa: T201
    documented = DOCUMENT.read_text()
    new = [row for row in rows if row not in documented]
    if new:
        print("docs/costs.md doesn't show these rows:", *new, sep="\n")  # noqa: T201
    return int(bool(new) or not all(agreement.suffices for agreement in agreements))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

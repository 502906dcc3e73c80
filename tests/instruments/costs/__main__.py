"""Print how our costs agree with those of genai-prices and LiteLLM.

Also those of recorded sessions, of which it writes the table into docs/costs.md.
Fails when a difference has no reason, when a recorded session is wrong, and when
docs/costs.md shows other figures.
"""

import asyncio
import sys

from tests.instruments.costs.comparisons import comparisons
from tests.instruments.costs.instrumentations.table import outcomes, table, with_table
from tests.support.project import ROOT

DOCUMENT = ROOT / "docs" / "costs.md"
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
    recorded = await outcomes()
    written = with_table(documented, table(recorded))
    print(table(recorded))  # noqa: T201
    if written != documented:
        DOCUMENT.write_text(written)
        print("docs/costs.md showed another table of instrumentations")  # noqa: T201
    is_right = written == documented and not any(each.is_wrong for each in recorded)
    new = [row for row in rows if row not in documented]
    if new:
        print("docs/costs.md doesn't show these rows:", *new, sep="\n")  # noqa: T201
    suffices = all(agreement.suffices for agreement in agreements)
    return int(bool(new) or not suffices or not is_right)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

"""Print how our costs agree with those of genai-prices and LiteLLM."""

import asyncio
import sys

from tests.costs.comparisons import comparisons

HEAD = (
    "| compared with | names | costs | equal to the last digit | "
    "differ with a reason | without |\n|---|---|---|---|---|---|"
)


async def main() -> int:
    """Return 1 if a comparison falls short of what it must reach."""
    agreements = await comparisons()
    print(HEAD)  # noqa: T201
    for agreement in agreements:
        print("\n".join(agreement.lines()))  # noqa: T201
    print()  # noqa: T201
    for agreement in agreements:
        print("\n".join(agreement.reasons()))  # noqa: T201
    return int(not all(agreement.suffices for agreement in agreements))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

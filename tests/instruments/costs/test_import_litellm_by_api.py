"""LiteLLM's real price file in full, imported by the API."""

import pytest

from service.price_catalog.imports.litellm.importer import import_litellm
from tests.instruments.costs.litellm_prices import litellm_folder, price_file
from tests.integration.price_catalog.test_import_routes import (
    LITELLM,
    counted,
    exactly_as_listed,
)
from tests.support.callers import Callers
from tests.support.harness.environment import INSTALL_TIMEOUT_S


@pytest.mark.timeout(INSTALL_TIMEOUT_S + 60)
@pytest.mark.thorough
async def test_litellms_file_in_full_by_the_api(
    callers: Callers,
) -> None:
    root = await callers.user("root", "superuser")
    document = price_file(litellm_folder()).read_bytes()
    source = import_litellm(document, version="1")

    first = await root.post(LITELLM, document)
    again = await root.post(LITELLM, document)

    assert counted(first) == {
        "added": len(source.models),
        "held": len(source.held),
        "skipped": len(source.skipped),
    }
    assert counted(again) == {
        "unchanged": len(source.models),
        "held": len(source.held),
        "skipped": len(source.skipped),
    }
    answered = await exactly_as_listed(root, source, first.position)
    assert len(answered) == len(source.models)

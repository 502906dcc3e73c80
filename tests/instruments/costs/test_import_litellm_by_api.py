"""LiteLLM's real price file in full, imported by the API."""

from dataclasses import replace

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

# The file has 3,200 and 500 dollars for a million tokens.
ABSURD = {"azure_ai/jais-30b-chat", "watsonx/core42/jais-13b-chat"}


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

    taken = tuple(each for each in source.models if each.key not in ABSURD)
    left_out = {
        "held": len(source.held) + len(ABSURD),
        "skipped": len(source.skipped),
    }
    assert counted(first) == {"added": len(taken), **left_out}
    assert counted(again) == {"unchanged": len(taken), **left_out}
    absurd = {
        f"{each['provider']}/{each['model']}"
        for each in first.data["differences"]
        if "absurd_price" in [reason["code"] for reason in each["held_because"]]
    }
    assert absurd == ABSURD
    source = replace(source, models=taken)
    answered = await exactly_as_listed(root, source, first.position)
    assert len(answered) == len(taken)

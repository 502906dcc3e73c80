"""Without the optional package, importing its prices says what to install."""

import sys

import pytest

from service.price_catalog.imports.genai_prices.importer import (
    PriceSourceMissingError,
    import_genai_prices,
)


def test_a_missing_package_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices.data", None)
    with pytest.raises(PriceSourceMissingError, match=r"agent-runtime\[demo\]"):
        import_genai_prices()

"""Import prices from the data inside the genai-prices package."""

import hashlib
from dataclasses import replace
from importlib import resources
from importlib.metadata import version

from service.errors import UnavailableError
from service.price_catalog.imports.price_list import (
    Import,
    PriceSource,
    sorted_import,
)

SOURCE_NAME = "genai-prices"


class PriceSourceMissingError(UnavailableError):
    """The package genai-prices isn't installed."""

    code = "price_source_missing"


def import_genai_prices() -> Import:
    """Read every price of the installed genai-prices package.

    Its prices are in US dollars for 1,000,000 tokens. The package's own updates,
    which it could download, aren't used.

    :raises PriceSourceMissingError: the package isn't installed
    """
    # Imported late: the package is optional and slow to load.
    try:
        from genai_prices.data import providers
    except ModuleNotFoundError as error:
        raise PriceSourceMissingError(
            "genai-prices isn't installed: pip install 'agent-runtime[demo]'"
        ) from error
    from service.price_catalog.imports.genai_prices.models import read_providers
    from service.price_catalog.imports.genai_prices.rules import read_rules

    listed = resources.files("genai_prices").joinpath("data.py").read_bytes()
    source = PriceSource(
        name=SOURCE_NAME,
        version=version("genai-prices"),
        sha256=hashlib.sha256(listed).hexdigest(),
    )
    models, skipped = read_providers(providers)
    listed_rules = tuple(map(read_rules, providers))
    return replace(sorted_import(source, models, skipped), rules=listed_rules)

"""Import prices from the data inside the genai-prices package."""

import hashlib
from importlib import resources
from importlib.metadata import version

from service.errors import UnavailableError
from service.price_catalog.importers.price_rows import (
    Import,
    PriceSource,
    sorted_import,
)

SOURCE_NAME = "genai-prices"


class PriceSourceMissingError(UnavailableError):
    """The package that holds the prices isn't installed."""

    code = "price_source_missing"


def import_genai_prices() -> Import:
    """Read every price of the installed genai-prices package.

    Its prices are US dollars for 1,000,000 tokens. Nothing is fetched: what the
    package could download to update itself is left alone.

    :raises PriceSourceMissingError: if the package isn't installed
    """
    # Late, for the package is an optional extra and takes a while to load.
    try:
        from genai_prices.data import providers
    except ModuleNotFoundError as error:
        raise PriceSourceMissingError(
            "genai-prices isn't installed: pip install 'agent-runtime[demo]'"
        ) from error
    from service.price_catalog.importers.genai_models import read_providers

    listed = resources.files("genai_prices").joinpath("data.py").read_bytes()
    source = PriceSource(
        name=SOURCE_NAME,
        version=version("genai-prices"),
        sha256=hashlib.sha256(listed).hexdigest(),
    )
    models, skipped = read_providers(providers)
    return sorted_import(source, models, skipped)

"""Open a price list by its name, or a file of one."""

from pathlib import Path

from service.pacing import in_thread
from service.price_catalog.imports.genai_prices.importer import (
    SOURCE_NAME as GENAI_PRICES,
)
from service.price_catalog.imports.genai_prices.importer import import_genai_prices
from service.price_catalog.imports.litellm.importer import (
    DOCUMENT_BYTES_MAX,
    import_litellm,
)
from service.price_catalog.imports.price_list import Import


async def open_price_list(name: str, *, version: str | None = None) -> Import:
    """Read ``genai-prices``, the installed package, or else a LiteLLM price file.

    Reading takes about a second, in a thread.

    :raises PriceSourceMissingError: the package isn't installed
    :raises InvalidPriceSourceError: the file isn't a price file
    :raises OSError: the file can't be read
    """
    if name == GENAI_PRICES:
        return await in_thread(import_genai_prices)
    return await in_thread(_read_litellm, Path(name), version)


def _read_litellm(path: Path, version: str | None) -> Import:
    with path.open("rb") as file:
        # One byte above the limit is enough for the importer to refuse the file.
        document = file.read(DOCUMENT_BYTES_MAX + 1)
    return import_litellm(document, version=version)

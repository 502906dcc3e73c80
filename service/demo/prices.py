"""Real prices, imported from the package genai-prices."""

from service.demo.api import Api


async def import_real_prices(admin: Api) -> None:
    """Import every price that the installed genai-prices knows.

    :raises DemoError: when the package isn't installed (the extra ``demo``)
    """
    await admin.post("/api/llm-router/prices/import", {"source": "genai-prices"})

"""Real prices, imported from the package genai-prices."""

from service.demo.api import Api

# The list dates few prices; the invented chats are of the last days.
UNDATED_SINCE = "2025-01-01T00:00:00Z"


async def import_real_prices(admin: Api) -> None:
    """Import every price that the installed genai-prices knows.

    :raises DemoError: when the package isn't installed (the extra ``demo``)
    """
    await admin.post(
        f"/api/llm-router/prices/imports/genai-prices?undated_since={UNDATED_SINCE}"
    )

"""The settings of the demo."""

from pydantic import Field

from service.settings import SettingGroup


class DemoConfig(SettingGroup):
    """The settings of the demo."""

    TITLE = "demo"

    demo: bool = Field(
        default=False,
        description="Fill an empty event log with demo data, through the API.",
    )

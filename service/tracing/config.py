"""The settings of the service's own spans."""

from pydantic import Field

from service.settings import SettingGroup


class TracingConfig(SettingGroup):
    """The settings of the service's own spans."""

    TITLE = "tracing"

    otlp_endpoint: str | None = Field(
        None,
        pattern=r"^https?://[^/?#@\s]+(/[^?#\s]*)?$",
        description="URL of an OTLP/HTTP receiver that spans of requests, commits, "
        "tool calls, followers and the relay are exported to, such as "
        "http://127.0.0.1:4318/v1/traces. Without it there are none.",
    )

"""The settings of the trace store."""

from pydantic import Field

from service.settings import SettingGroup


class TraceStoreConfig(SettingGroup):
    """The settings of an Arize Phoenix that enriches session lists."""

    TITLE = "trace store"

    trace_store: str | None = Field(
        None,
        pattern=r"^https?://[^/?#@\s]+(/[^?#\s]*)?$",
        description="Base URL of an Arize Phoenix that enriches session lists.",
    )
    trace_store_token: str | None = Field(
        None, repr=False, description="Bearer token for the trace store."
    )
    trace_store_project: str | None = Field(
        None,
        min_length=1,
        description="Project of the trace store with the traces of all agents. Without "
        "it each agent has a project of its own, named by the agent's id.",
    )

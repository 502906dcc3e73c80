"""The settings of the tool gateway."""

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from service.gateway.bounds import DEFAULT_BOUNDS, Bounds
from service.networks import Networks
from service.settings import SettingGroup

_WEB_URL: Final = re.compile(r"https?://[^\s{}]+")


def _approval_url(text: str) -> str:
    filled = text.replace("{agent_id}", "", 1).replace("{approval_id}", "", 1)
    if "{approval_id}" not in text or not _WEB_URL.fullmatch(filled):
        raise ValueError("not an http or https URL with {approval_id} in it")
    return text


ApprovalUrl = Annotated[str, AfterValidator(_approval_url)]


class GatewayConfig(SettingGroup):
    """The settings of the tool gateway."""

    TITLE = "tool gateway"

    gateway_networks: Networks | None = Field(
        None,
        description="Networks in which connectors may be in addition to the public "
        "internet, separated by commas, such as 10.0.0.0/8,fd12::/16; TLS is not "
        "required in them. Without it the gateway calls public addresses only, with "
        "TLS.",
    )
    gateway_hold_s: float = Field(
        20.0,
        ge=0,
        le=300,
        description="How long a tool call waits for the answer of the person who is "
        "asked, in seconds, before the agent is told that it is pending; 0 "
        "tells it at once.",
    )
    gateway_approval_url: ApprovalUrl | None = Field(
        None,
        description="URL of the page on which people answer, with {approval_id} and "
        "perhaps {agent_id} in it. With it, clients of agents that can open links "
        "are given one.",
    )
    gateway_silence_s: float = Field(
        DEFAULT_BOUNDS.silence_s,
        ge=1,
        le=540,
        description="How long a connector may send nothing while a call waits for it, "
        "in seconds, at most 540.",
    )
    gateway_call_s: float = Field(
        DEFAULT_BOUNDS.call_s,
        ge=1,
        le=540,
        description="How long a forwarded tool call may take in all, in seconds, at "
        "most 540; a call without an end on record counts as cut off after ten "
        "minutes.",
    )
    gateway_answer_bytes: int = Field(
        DEFAULT_BOUNDS.answer_bytes,
        ge=64 * 1024,
        le=32 * 1024 * 1024,
        description="How large an answer of a connector may be, in bytes, from 65536 "
        "to 33554432. A result that stands in it as content and as structuredContent "
        "counts once.",
    )
    gateway_tools_max: int = Field(
        DEFAULT_BOUNDS.tools_max,
        ge=1,
        le=2_000,
        description="How many tools of one connector are taken, at most 2000; those "
        "beyond are left out and named in the connector's health.",
    )
    gateway_values_max: int = Field(
        DEFAULT_BOUNDS.values_max,
        ge=1_000,
        le=20_000,
        description="How many values the arguments of a tool call may have, with the "
        "rest of their message, from 1000 to 20000.",
    )
    gateway_hidden_characters: Literal["remove", "mark", "keep"] = Field(
        "remove",
        description="What agents see of characters that people don't see, in "
        "descriptions and other texts of tool definitions, such as zero-width and "
        "direction characters: remove takes them out, mark shows them, such as "
        "<U+202E>, keep leaves them.",
    )

    @property
    def gateway_bounds(self) -> Bounds:
        return Bounds(
            silence_s=self.gateway_silence_s,
            call_s=self.gateway_call_s,
            answer_bytes=self.gateway_answer_bytes,
            tools_max=self.gateway_tools_max,
            values_max=self.gateway_values_max,
        )

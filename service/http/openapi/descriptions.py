"""Descriptions of parameters and fields whose types have none, by name.

A name that means something else in an operation is described at its type there.
"""

from typing import Final

PATH: Final = {
    "position": "The entry's position in the log.",
    "price_version": "The version that recorded the price, from its history.",
    "user_name": "The user's name.",
    "version": "The version's number.",
}
QUERY: Final = {
    "after": "`end_cursor` of the previous page.",
    "agent_id": "Limits the list to this agent.",
    "as_of": "The prices in effect at this time; by default now.",
    "at": "A log position or a time: answer as of then.",
    "before": "`end_cursor` of the previous page.",
    "compare": "Adds the sums of the period before to each group.",
    "confirm": "Models whose changes are made although they were held back, as "
    "`provider/model`, separated by commas, or `all`.",
    "connection_id": "Limits the list to this connection.",
    "connector_id": "Limits the list to this connector.",
    "decision": "Calls that were admitted, or those that were refused.",
    "dry_run": "Report the changes without making them.",
    "end_time": "Nothing that started later, or at this time.",
    "from_day": "The first day; by default 29 days before the last.",
    "group_by": "What to sum up by, `day` by default; at most one of `hour`, `day`, "
    "`week` and `month`.",
    "has_error": "Sessions with an error, or those without one.",
    "health": "Connectors whose tools could be listed at the last attempt, or not.",
    "limit": "Maximum number of items on the page.",
    "min_position": "As the header X-Min-Position.",
    "model": "Limits the list to this model.",
    "offset": "Number of items to skip.",
    "outcome": "Calls that ended so, or are still running.",
    "preset_id": "Limits the list to this preset.",
    "provider": "Limits the list to this provider, by its key.",
    "scope": "Connectors that the caller owns, or that are granted, offered or public.",
    "session_id": "Limits the list to this session.",
    "session_id_prefix": "Sessions whose ids start so.",
    "since": "A log position or a time: the earlier state.",
    "start_time": "Only what happened at or after this time.",
    "state": "Limits the list to this state.",
    "time_zone": "The zone of the days, such as `Europe/Berlin`.",
    "tool": "Limits the list to this tool, by its name at its connector.",
    "top": "With a period and other groups: show so many of these, the dearest, and "
    "the rest as one group.",
    "trace_id": "Limits the list to this trace.",
    "undated_since": "From when prices without a date are effective; by default now.",
    "unit_costs": "Adds the cost by turn, session and user.",
    "until": "A log position or a time: the later state; by default now.",
    "until_day": "The last day, included; by default today.",
    "user_id": "Limits the list to this user.",
}

_PRICE: Final = "Price of 1,000,000 {}; 0 is free, left out or null is unknown."
BODY: Final = {
    "after": "`next` of the previous answer.",
    "agent_id": "The agent's id.",
    "at": "A log position or a time.",
    "cache_creation_price_per_1m": _PRICE.format("tokens written to a cache"),
    "cache_creation_tokens": "Tokens of the prompt that were written to a cache.",
    "cache_read_price_per_1m": _PRICE.format("tokens read from a cache"),
    "cache_read_tokens": "Tokens of the prompt that were read from a cache.",
    "completion_tokens": "Tokens of the output.",
    "currency": "The currency, as its ISO 4217 code.",
    "description": "What it is for, in a few words.",
    "discount_percent": "Percent off every list price that the contract doesn't fix.",
    "display_name": "The name that people read.",
    "dry_run": "Report the changes without making them.",
    "effective_from": "When it becomes effective; by default now, or when the "
    "corrected price did.",
    "effective_until": "When it ends; by default when the next one begins, or when the "
    "corrected price did.",
    "ended_at": "When it ended.",
    "error": "The error's text.",
    "from_time": "Turns that started at or after this time.",
    "header": "The header that the secret is sent in.",
    "input": "The text that the turn began with.",
    "input_price_per_1m": _PRICE.format("tokens of prompts"),
    "is_error": "Whether the turn failed.",
    "key": "Names the provider in prices and sessions, such as `openai`.",
    "label": "Says what the token is for, such as `laptop`.",
    "model": "The model's name, as its provider has it.",
    "name": "The name.",
    "notes": "A remark, such as where the price is from.",
    "output": "The text that the turn ended with.",
    "output_price_per_1m": _PRICE.format("tokens of output"),
    "prompt_tokens": "Tokens of the prompt, with those of caches.",
    "provider": "The provider's key, such as `openai`.",
    "roles": "Permissions beyond the user's own resources.",
    "rules": "The rules.",
    "secret_name": "The name of the owner's secret; only with `owner`.",
    "session_id": "The session's id; by default the service chooses one.",
    "started_at": "When it started.",
    "structure": "All rates of a price with more than these four: tiers by length of "
    "the prompt, times of day, units such as audio, service tiers.",
    "trace_id": "The trace's id.",
    "turn_id": "The turn's id, of the caller's choice.",
    "until_time": "Turns that started before this time.",
    "user_id": "The user; by default the caller.",
    "value": "The secret's value.",
}

"""The worst inputs of every operation that one caller could think of.

Each operation is asked for its example, and for what costs any operation most: long
queries, headers and bodies. ``WORST`` adds what is bad for one operation alone. A world
that is as large as its limits allow has been made before.
"""

import gzip
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from service.http.operation import Operation
from service.sessions.otlp.body import FIELDS_MAX
from service.tool_rules.body import RULES_MAX
from tests.instruments.security.large_world import LONG_TEXT, World, hostile_rules
from tests.instruments.security.raw_requests import Wire
from tests.support.sessions.otlp.spans import empty_messages, export, span
from tests.unit.http.test_json_cost import WORST as WORST_JSON

JSON: Final = "application/json"
PROTOBUF: Final = "application/x-protobuf"
LINE_BYTES: Final = 8000
UPLOAD_BYTES: Final = 16 * 1024 * 1024
# Models are imported in batches, so that more only take longer.
LITELLM_MODELS: Final = 20_000 if os.environ.get("WORST_INPUTS") == "full" else 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request; ``path`` overrides the ids of the world.

    With ``wire`` it is sent as no client library does.
    """

    what: str
    query: str = ""
    path: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wire: Wire | None = None


Worst = Callable[[World], Iterator[Ask]]


def asks_of(operation: Operation, world: World) -> Iterator[Ask]:
    """Yield everything that an operation is asked."""
    example = _example(operation, world)
    yield example
    for what, query in LONG_QUERIES.items():
        yield Ask(what=what, query=query, body=example.body, headers=example.headers)
    yield Ask(what="long headers", headers={f"X-{n}": "x" * 250 for n in range(30)})
    if operation.takes_body:
        for what, body in WORST_JSON.items():
            yield json_ask(what, body)
        yield Ask(what="noise", body=b"\xff" * 1_000_000, headers=example.headers)
    else:
        yield json_ask("a body of brackets", b"[" * 1_000_000)
    if operation.takes_body or operation.public:
        yield from _tiny_chunks(example)
    yield from WORST.get(operation.name, _nothing)(world)


def _tiny_chunks(example: Ask) -> Iterator[Ask]:
    """Yield a body in chunks of a byte: as many as are parsed, and six times that."""
    for count in (100_000, 1_000_000):
        for has_token in (True, False):
            yield Ask(
                what=f"{count:,} chunks, {'a' if has_token else 'no'} token",
                query=example.query,
                body=b"1\r\n \r\n" * count + b"0\r\n\r\n",
                headers=example.headers,
                wire=Wire(chunked=True, has_token=has_token),
            )


def json_ask(what: str, body: Any, query: str = "", **path: Any) -> Ask:
    sent = body if isinstance(body, bytes) else orjson.dumps(body)
    headers = {"Content-Type": JSON}
    return Ask(what=what, query=query, path=path, body=sent, headers=headers)


def query_ask(what: str, **query: Any) -> Ask:
    return Ask(what=what, query=urlencode(query))


def _example(operation: Operation, world: World) -> Ask:
    example = world.examples.get(operation.name, {})
    body = example.get("body", operation.body_example)
    query = urlencode(example.get("query", {}))
    if body is None:
        return Ask(what="example", query=query)
    return json_ask("example", body, query)


def _nothing(_world: World) -> Iterator[Ask]:
    yield from ()


LONG_QUERIES: Final = {
    "many parameters": "&".join(f"a{n}={n}" for n in range(1000)),
    "one parameter many times": "&".join(["limit=1"] * 900),
    "a long parameter": "after=" + "a" * LINE_BYTES,
    "escapes": "after=" + "%C3%A9" * (LINE_BYTES // 6),
    "U+0000": "after=" + "%00" * (LINE_BYTES // 3),
    "digits": "limit=" + "9" * LINE_BYTES,
    "a time": "as_of=2026-01-01T00:00:00." + "0" * LINE_BYTES,
}


def _replace_rules(world: World) -> Iterator[Ask]:
    agent_id, connector_id = world.ids["agent_id"], world.ids["connector_id"]
    for name, patterns in PATTERNS.items():
        for stance in ("allow", "deny"):
            rules = [
                rule(connector_id, pattern, stance) for pattern in patterns(stance)
            ]
            yield json_ask(f"{name}, {stance}", {"rules": rules}, agent_id=agent_id)
        mixed = [
            rule(connector_id, pattern, ("allow", "ask", "deny")[number % 3])
            for number, pattern in enumerate(patterns("mixed"))
        ]
        yield json_ask(f"{name}, mixed", {"rules": mixed}, agent_id=agent_id)
    many = [
        rule(world.connectors[number % len(world.connectors)], f"*{number}", "ask")
        for number in range(RULES_MAX)
    ]
    yield json_ask("many connectors", {"rules": many}, agent_id=agent_id)
    unknown = [
        rule(f"{number:08x}-0000-4000-8000-000000000000", "a", "ask")
        for number in range(RULES_MAX)
    ]
    yield json_ask("unknown connectors", {"rules": unknown}, agent_id=agent_id)
    full = [rule(connector_id, f"x{number}", "ask") for number in range(RULES_MAX)]
    agent_id = world.ids["full_agent_id"]
    yield json_ask("an agent with all rules", {"rules": full}, agent_id=agent_id)


def _preview_rules(world: World) -> Iterator[Ask]:
    yield from _replace_rules(world)
    connector_id, agent_id = world.ids["connector_id"], world.ids["hostile_agent_id"]
    rules = [rule(connector_id, each, "ask") for each in hostile_rules("x")]
    yield json_ask("an agent with hostile rules", {"rules": rules}, agent_id=agent_id)


def rule(connector_id: str, pattern: str, stance: str) -> dict[str, str]:
    return {"connector_id": connector_id, "tool_pattern": pattern, "stance": stance}


PATTERNS: Final[Mapping[str, Callable[[str], list[str]]]] = {
    "stars": lambda stance: hostile_rules(f"?{stance[0]}"),
    "stars to the end": lambda stance: [
        f"{'*a' * 125}{stance[0]}{n:03}*" for n in range(RULES_MAX)
    ],
    "question marks": lambda stance: [
        f"{'?' * 250}{stance[0]}{n}" for n in range(RULES_MAX)
    ],
    "stars and question marks": lambda stance: [
        f"{'*?' * 124}{stance[0]}{n}*" for n in range(RULES_MAX)
    ],
    # Each is looked for at each place of a name; so few that they are compared.
    "long searches": lambda stance: [
        f"*{'a' * 100}{stance[0]}{n:03}*" for n in range(RULES_MAX // 2)
    ],
    "names": lambda stance: [f"{'n' * 250}{stance[0]}{n}" for n in range(RULES_MAX)],
}


def _connectors_page(_world: World) -> Iterator[Ask]:
    yield query_ask("a whole page", limit=100)


def _agent_tools(world: World) -> Iterator[Ask]:
    yield Ask(what="10,000 rules", path={"agent_id": world.ids["full_agent_id"]})
    yield Ask(
        what="10,000 rules, then",
        path={"agent_id": world.ids["full_agent_id"]},
        query=urlencode({"at": world.position}),
    )
    yield Ask(what="hostile rules", path={"agent_id": world.ids["hostile_agent_id"]})


def _explain(world: World) -> Iterator[Ask]:
    agent_id = world.ids["hostile_agent_id"]
    for tool in ("a" * 256, "*" * 256, "b"):
        asked = {"connector_id": world.ids["connector_id"], "tool": tool}
        yield Ask(
            what=f"a tool of {tool[0]}",
            path={"agent_id": agent_id},
            query=urlencode(asked),
        )


def _restore_rules(world: World) -> Iterator[Ask]:
    for name in ("hostile_agent_id", "full_agent_id"):
        position = world.positions[name]
        yield json_ask(name, {"at": position}, agent_id=world.ids[name])


def _connector_tools(_world: World) -> Iterator[Ask]:
    yield query_ask("a whole page", limit=100)


def _secret(_world: World) -> Iterator[Ask]:
    for text in ("s" * 65_536, "\N{GRINNING FACE}" * 16_384, '"' * 65_536):
        yield json_ask("a long value", {"value": text, "name": "LONG"})


def _reprice(world: World) -> Iterator[Ask]:
    period = {"from_time": "2000-01-01T00:00:00Z", "until_time": "2030-01-01T00:00:00Z"}
    for dry_run in (True, False):
        for what, filters in {
            "everything": {},
            "calls": {"agent_id": world.ids["full_agent_id"]},
        }.items():
            body = {**period, **filters, "dry_run": dry_run}
            yield json_ask(f"{what}, {'dry' if dry_run else 'recorded'}", body)


def _pages(_world: World) -> Iterator[Ask]:
    yield query_ask("a whole page", limit=100)


def _turn(world: World) -> Iterator[Ask]:
    session = {"session_id": world.ids["long_session_id"]}
    for number, text in enumerate(("t" * 500_000, "\N{GRINNING FACE}" * 120_000)):
        turn = {**world.turn, "turn_id": f"worst-{number}"}
        turn |= {"input": text, "output": text[: len(text) // 2]}
        yield json_ask("long texts", turn, **session)


def _messages(_world: World) -> Iterator[Ask]:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    texts = {"name": "t", "arguments": {"text": "x" * 1_000_000}}
    values = {"name": "t" * 100_000, "arguments": {"values": list(range(4_500))}}
    for what, params in {"a long text": texts, "many values": values}.items():
        yield json_ask(what, {**call, "params": params})
    yield json_ask("many messages", [{**call, "id": n} for n in range(1_000)])
    yield json_ask("a list of tools", {**call, "method": "tools/list"})


def _session(world: World) -> Iterator[Ask]:
    for limit in (100, 500, 1000):
        yield Ask(
            what=f"{limit} turns with long texts",
            path={"session_id": world.ids["long_session_id"]},
            query=f"limit={limit}",
        )


def _session_list(_world: World) -> Iterator[Ask]:
    yield query_ask("a whole page", limit=100, start_time="2000-01-01T00:00:00Z")
    yield query_ask("a far page", limit=100, offset=1_000_000)


def _usage(_world: World) -> Iterator[Ask]:
    groups = "agent,user,provider,model"
    yield query_ask(
        "everything",
        from_day="2000-01-01",
        until_day="2030-01-01",
        group_by=groups,
        limit=1000,
        compare="true",
        unit_costs="true",
    )
    yield query_ask(
        "a series of every hour",
        from_day="2000-01-01",
        until_day="2030-01-01",
        group_by=f"hour,{groups}",
        time_zone="Asia/Kathmandu",
        order="cost",
        compare="true",
        top=50,
        limit=1000,
    )


def _usage_csv(_world: World) -> Iterator[Ask]:
    yield query_ask(
        "everything by the hour",
        from_day="2000-01-01",
        until_day="2030-01-01",
        group_by="hour,agent,user,provider,model",
    )


def _traces(world: World) -> Iterator[Ask]:
    agent = world.ids["agent_id"]
    for what, body in _exports(agent).items():
        yield _export(what, body)
        yield _export(f"{what}, compressed", gzip.compress(body, 1), "gzip")
    zeros = gzip.compress(b"\0" * UPLOAD_BYTES)
    yield _export("zeros", zeros, "gzip")
    yield _export("many members", gzip.compress(b"") * 40_000, "gzip")
    yield _export("noise as gzip", b"\x1f\x8b" + b"\xff" * 1_000_000, "gzip")
    yield _export("noise", b"\xff" * UPLOAD_BYTES)
    # Empty messages, two bytes each.
    for what, nesting in {"resources": [1], "spans": [1, 2, 2]}.items():
        yield _export(f"empty {what}", empty_messages(7_000_000, *nesting))
        fewer = empty_messages(FIELDS_MAX - len(nesting), *nesting)
        yield _export(f"as many empty {what} as may be", fewer)
    for what, body in {
        "brackets": b"[" * UPLOAD_BYTES,
        "resources": b'{"resourceSpans":[' + b"{}," * 5_000_000 + b"{}]}",
        "unknown fields": orjson.dumps({f"k{n}": n for n in range(800_000)}),
    }.items():
        yield Ask(what=f"JSON {what}", body=body, headers={"Content-Type": JSON})
    for what, inner in {
        "resources": b"%b",
        "spans": b'{"scopeSpans":[{"spans":[%b]}]}',
        "attributes": b'{"resource":{"attributes":[%b]}}',
    }.items():
        for size in (8, 255):
            few = b"{}," * (size * 340) + b"{}"
            body = b'{"resourceSpans":[' + inner % few + b"]}"
            headers = {"Content-Type": JSON}
            yield Ask(what=f"{size} KiB of JSON {what}", body=body, headers=headers)


def _exports(agent: str) -> dict[str, bytes]:
    long = "x" * 60_000
    spans = [
        span(
            number,
            parent=None if number % 100 == 1 else number - 1,
            trace=number // 100 + 1,
            session__id=f"worst-{number // 100}",
            openinference__span__kind="LLM",
            llm__token_count__prompt=number,
        )
        for number in range(1, 20_000)
    ]
    texts = [
        span(
            number,
            trace=10_000 + number,
            session__id=f"texts-{number % 3}",
            input__value=long,
            output__value=long,
        )
        for number in range(1, 130)
    ]
    unknown = [span(number, trace=20_000 + number) for number in range(1, 20_000)]
    attributes = [
        span(number, trace=90_000, tags=dict.fromkeys(map(str, range(2000)), 1))
        for number in range(1, 100)
    ]
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    nested = [span(1, trace=91_000, session__id="deep", input__value=deep)]
    return {
        "many spans": export(agent, *spans).SerializeToString(),
        "long texts": export(agent, *texts).SerializeToString(),
        "irrelevant spans": export(agent, *unknown).SerializeToString(),
        "many attributes": export(agent, *attributes).SerializeToString(),
        "deep attributes": export(agent, *nested).SerializeToString(),
        "one trace": _one_trace(agent, spans[:6000]),
    }


def _one_trace(agent: str, spans: Sequence[Span]) -> bytes:
    for each in spans:
        each.trace_id = (95_000).to_bytes(16)
    return export(agent, *spans).SerializeToString()


def _export(what: str, body: bytes, coding: str | None = None) -> Ask:
    headers = {"Content-Type": PROTOBUF}
    if coding is not None:
        headers["Content-Encoding"] = coding
    return Ask(what=what, body=body, headers=headers)


def _litellm(_world: World) -> Iterator[Ask]:
    entry = {
        "litellm_provider": "openai",
        "mode": "chat",
        "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1e-05,
    }
    for what, document in {
        "many models": {f"model-{n}": entry for n in range(LITELLM_MODELS)},
        "long names": {f"{'m' * 240}{n}": entry for n in range(LITELLM_MODELS)},
        "changed prices": {
            f"model-{n}": {**entry, "input_cost_per_token": 9e-06}
            for n in range(LITELLM_MODELS)
        },
        "many providers": {
            f"m{n}": {**entry, "litellm_provider": f"p{n}"}
            for n in range(LITELLM_MODELS // 4)
        },
        "wrong prices": {
            f"w{n}": {**entry, "input_cost_per_token": -1}
            for n in range(LITELLM_MODELS)
        },
    }.items():
        for query in ("dry_run=true", "confirm=all"):
            yield json_ask(f"{what}, {query}", document, query)
    yield json_ask("brackets", b"[" * 30_000_000)
    yield json_ask("numbers", b"[" + b"1," * 10_000_000 + b"1]")
    yield json_ask("as many numbers as may be", b"[" + b"1," * 1_400_000 + b"1]")
    objects = b"[" + b'{"\xc3\xa4":1},' * 290_000 + b'"' + LONG_TEXT.encode() * 300
    yield json_ask("as many objects as may be", objects + b'"]')


def _genai(_world: World) -> Iterator[Ask]:
    yield query_ask("everything", confirm="all")


def _providers(_world: World) -> Iterator[Ask]:
    yield query_ask("another time", as_of="2026-02-01T00:00:00Z")
    yield Ask(what="many encodings", headers={"Accept-Encoding": "gzip," * 1500})
    yield Ask(what="many tags", headers={"If-None-Match": '"a",' * 1900})


def _prices(_world: World) -> Iterator[Ask]:
    yield query_ask("a whole page", provider="acme", model="swift-1", limit=500)


def _contracts(_world: World) -> Iterator[Ask]:
    yield query_ask("all ever recorded", history="true", limit=500)


def _audit_page(world: World) -> Iterator[Ask]:
    yield query_ask("a whole page", limit=500)
    yield query_ask("the oldest", limit=500, order="oldest")
    yield query_ask("large events", limit=500, kind="tool_rules.replaced")
    yield query_ask("texts", limit=500, kind="session.turn_recorded")
    yield query_ask("of one thing", limit=500, resource=world.ids["connector_id"])


def _audit_entry(world: World) -> Iterator[Ask]:
    for name, position in world.positions.items():
        yield Ask(what=f"the large event of {name}", path={"position": position})


def _audit_export(_world: World) -> Iterator[Ask]:
    yield query_ask("everything", from_position=1)
    yield query_ask("large events", kind="tool_rules.replaced")


def _audit_stream(_world: World) -> Iterator[Ask]:
    yield query_ask("everything", after=0)


def _aggregate(world: World) -> Iterator[Ask]:
    for name, aggregate_id in world.aggregates.items():
        yield Ask(what=name, path={"aggregate_id": aggregate_id})


def _aggregate_difference(world: World) -> Iterator[Ask]:
    for name, aggregate_id in world.aggregates.items():
        yield Ask(what=name, path={"aggregate_id": aggregate_id}, query="since=1")


def _exposure(_world: World) -> Iterator[Ask]:
    yield query_ask("everything", since=1)


def _decisions(world: World) -> Iterator[Ask]:
    tools = ",".join(f"{'a' * 17}{n:02}" for n in range(100))
    for name in ("hostile_agent_id", "full_agent_id"):
        yield Ask(
            what=name,
            path={"agent_id": world.ids[name]},
            query=urlencode({"since": 1, "tools": tools}),
        )


def _accept(_world: World) -> Iterator[Ask]:
    yield json_ask(
        "many definitions", {"definitions": {f"tool-{n}": "0" * 64 for n in range(500)}}
    )


def _probes(_world: World) -> Iterator[Ask]:
    yield Ask(what="20 at once", wire=Wire(connections=20, has_token=False))
    yield Ask(what="100 pipelined", wire=Wire(times=100, has_token=False))
    many = Wire(times=50, connections=20, has_token=False)
    yield Ask(what="50 pipelined, 20 times", wire=many)


def _schemas(_world: World) -> Iterator[Ask]:
    yield Ask(what="a long name", path={"name": "x" * LINE_BYTES})


WORST: Final[Mapping[str, Worst]] = {
    "bulk_update_tools": _replace_rules,
    "post_tool_rules_preview": _preview_rules,
    "post_tool_rules_restore": _restore_rules,
    "get_agent_tools": _agent_tools,
    "get_tool_explanation": _explain,
    "get_connector_tools": _connector_tools,
    "get_connectors": _connectors_page,
    "get_agents": _pages,
    "get_users": _pages,
    "get_user_tokens": _pages,
    "get_secrets": _pages,
    "get_secret": _pages,
    "post_secret": _secret,
    "put_secret": _secret,
    "post_to_agent": _messages,
    "post_to_connector": _messages,
    "post_turn": _turn,
    "post_reprice": _reprice,
    "get_session": _session,
    "get_session_list": _session_list,
    "get_usage": _usage,
    "get_usage_csv": _usage_csv,
    "post_definitions_accept": _accept,
    "get_calls": _pages,
    "get_approvals": _pages,
    "post_traces": _traces,
    "post_litellm_import": _litellm,
    "post_genai_prices_import": _genai,
    "get_providers": _providers,
    "get_contracts": _contracts,
    "get_prices": _prices,
    "get_audit_events": _audit_page,
    "get_audit_event": _audit_entry,
    "get_audit_jsonl": _audit_export,
    "get_audit_csv": _audit_export,
    "get_audit_stream": _audit_stream,
    "get_aggregate": _aggregate,
    "get_aggregate_difference": _aggregate_difference,
    "get_connector_exposure": _exposure,
    "get_decisions_difference": _decisions,
    "get_event_schema": _schemas,
    "get_livez": _probes,
    "get_metrics": _probes,
    "get_readyz": _probes,
}
# The examples of these, with the worst of what any operation is asked, are their worst:
# what they read and write has a size of its own, whatever the request says.
SIMPLE: Final = frozenset(
    [
        "delete_agent",
        "delete_agent_grant",
        "delete_agent_manager",
        "delete_agent_reader",
        "delete_agent_token",
        "delete_connector",
        "delete_console_session",
        "delete_connector_credential",
        "delete_connector_owner_offer",
        "delete_connector_rules",
        "delete_public_grant",
        "delete_secret_by_name",
        "delete_user",
        "delete_user_disabled",
        "delete_user_key",
        "delete_user_role",
        "delete_user_token",
        "get_agent",
        "get_agent_gateway",
        "get_agent_tokens",
        "get_approval",
        "get_asyncapi",
        "get_call",
        "get_checkpoint",
        "get_checkpoint_key",
        "get_connector",
        "get_connector_health",
        "get_console",
        "get_console_file",
        "get_console_metrics",
        "get_console_readyz",
        "get_console_session",
        "get_consistency_proof",
        "get_definitions",
        "get_docs",
        "get_docs_asset",
        "get_inclusion_proof",
        "get_me",
        "get_openapi",
        "get_root",
        "get_secret_value",
        "get_user",
        "get_user_by_name",
        "post_agent",
        "post_agent_token",
        "post_approval_approve",
        "post_approval_refuse",
        "post_approval_withdraw",
        "post_connector",
        "post_connector_observe",
        "post_console_session",
        "post_contract",
        "post_contract_correction",
        "post_contract_end",
        "post_price",
        "post_price_correction",
        "post_price_end",
        "post_provider",
        "post_public_grant",
        "post_secret_restore",
        "post_session",
        "post_session_end",
        "post_user",
        "post_user_token",
        "put_agent",
        "put_agent_gateway",
        "put_agent_grant",
        "put_agent_manager",
        "put_agent_reader",
        "put_connector",
        "put_connector_credential",
        "put_connector_gateway",
        "put_connector_owner",
        "put_user_disabled",
        "put_user_name",
        "put_user_role",
    ]
)

// One session: its turns with texts, and its cost over time.
import { CallTable } from "../app/calls.js";
import { Chart } from "../app/chart.js";
import { exactMoney, number } from "../app/format.js";
import { has, useMe } from "../app/me.js";
import { Named } from "../app/names.js";
import { Badge, Facts, Page, Reading } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { Time, duration, zone } from "../app/time.js";
import { html } from "../app/ui.js";

const PAGE = 50;

function summary(session) {
  const { cost_summary: cost, token_usage: tokens } = session;
  return [
    ["Agent", html`<${Named} kind="agents" id=${session.agent_id} />`],
    ["User", html`<${Named} kind="users" id=${session.user_id} />`],
    ["Start", html`<${Time} at=${session.start_time} />`],
    ["Last activity", html`<${Time} at=${session.end_time} />`],
    ["State", session.has_ended ? "ended" : "open"],
    ["Turns", `${number(session.num_traces)}, ${number(session.num_traces_with_error)} failed`],
    ["Cost", exactMoney(cost.total.cost, cost.total.currency) + (cost.unpriced.length ? ` (${cost.unpriced.join(", ")})` : "")],
    ["Cost by the list", exactMoney(cost.list_total.cost, cost.list_total.currency)],
    ["Tokens", `${number(tokens.prompt)} in, ${number(tokens.completion)} out`],
    ["Duration", duration(session.duration_ms)],
    ["Turn latency", `median ${duration(session.trace_latency_ms_p50)}, 99 % below ${duration(session.trace_latency_ms_p99)}`],
    ["Without a price", cost.traces_without_price ? number(cost.traces_without_price) : undefined],
  ];
}

function costSoFar(turns) {
  let total = 0;
  return turns.map((turn) => {
    total += Number(turn.cost);
    return { turn, total: Number(total.toPrecision(12)) };
  });
}

const costColumns = (soFar) => [
  { label: "Turn", cell: ({ turn }) => turn.turn_id },
  { label: "End", cell: ({ turn }) => html`<${Time} at=${turn.end_time} />` },
  { label: "Cost", number: true, cell: ({ turn }) => exactMoney(turn.cost, turn.currency) },
  { label: soFar, number: true, cell: ({ total, turn }) => exactMoney(total, turn.currency) },
];

// The cost of the turns that are shown, for each currency: they can't be added up.
function CostOverTime({ turns, offset }) {
  const soFar = offset > 0 ? "Cost so far on this page" : "Cost so far";
  const currencies = [...new Set(turns.filter((turn) => turn.cost !== null).map((turn) => turn.currency))].sort();
  return currencies.map((currency) => {
    const rows = costSoFar(turns.filter((turn) => turn.cost !== null && turn.currency === currency));
    return html`<${Chart} key=${currency} caption="Cost over time, in ${currency}" zone=${zone()}
      x=${rows.map(({ turn }) => Date.parse(turn.end_time) / 1000)} series=${[{ label: soFar, values: rows.map((each) => each.total) }]}
      rows=${rows} columns=${costColumns(soFar)} />`;
  });
}

const CALLS_MAX = 100;

// Those whose client named the session.
function ToolCalls({ id }) {
  const read = useRead("/api/mcp/calls", { session_id: id, limit: CALLS_MAX });
  return html`<h2>Tool calls</h2>
    <${Reading} read=${read} what="Reading tool calls">${() => html`<${CallTable} calls=${read.data.calls} empty="No tool call through the gateway named this session." />
      ${read.data.end_cursor && html`<p><a href=${link("calls", { session_id: id })}>All of them</a></p>`}`}<//>`;
}

function Text({ label, text, truncated }) {
  const words = (text ?? null) === null ? html`<em>none recorded, or its key was destroyed</em>` : html`<bdi>${text}</bdi>`;
  return html`<div class="text"><h4>${label}</h4><p>${words}${truncated && html` <em>(cut at 64 KiB)</em>`}</p></div>`;
}

function Turn({ turn, number: index }) {
  return html`<li class="turn ${turn.is_error ? "bad" : ""}">
    <h3>Turn ${index} <small><bdi>${turn.turn_id}</bdi></small> ${turn.is_error && html`<${Badge} kind="deny">✕ failed<//>`}</h3>
    <p class="meta"><${Time} at=${turn.start_time} /> · ${duration(turn.latency_ms)} · <bdi>${turn.provider}/${turn.model}</bdi>${` · ${number(turn.token_usage.prompt)} in, ${number(turn.token_usage.completion)} out · `}
      ${turn.cost === null ? `no price (${turn.unpriced ?? "unknown"})` : exactMoney(turn.cost, turn.currency)}${turn.contract_id && `, list ${exactMoney(turn.list_cost, turn.list_currency)}`}
      ${turn.estimated.length > 0 && html` <${Badge} kind="ask">estimated<//> (not told: ${turn.estimated.join(", ")})`}
      ${turn.reported_cost_differs && html` <${Badge} kind="ask">differs<//> from the reported ${exactMoney(turn.reported_cost, "USD")}`}
      ${turn.priced_as && html` at the price of <a href=${link(["prices", turn.priced_as.split("/")[0], turn.priced_as.split("/").slice(1).join("/")])}>${turn.priced_as}</a>`}
      ${turn.trace_id && html` · trace <code>${turn.trace_id}</code>`}</p>
    ${turn.error && html`<${Text} label="Error" text=${turn.error} />`}
    <${Text} label="Input" text=${turn.input} truncated=${turn.input_truncated} />
    <${Text} label="Output" text=${turn.output} truncated=${turn.output_truncated} />
  </li>`;
}

export default function Session({ id, query }) {
  const hasGateway = has(useMe(), "gateway");
  const offset = Number(query.offset ?? 0);
  const read = useRead(`/api/observability/session/${encodeURIComponent(id)}`, { limit: PAGE, offset });
  const turns = read.data?.turns ?? [];
  const total = read.data?.num_traces ?? 0;
  return html`<${Page} title="Session" lead=${html`<code>${id}</code>`}>
    <${Reading} read=${read} what="Reading the session">${() => html`
      <${Facts} facts=${summary(read.data)} />
      <${CostOverTime} turns=${turns} offset=${offset} />
      <h2>Turns ${turns.length < total ? `${offset + 1} to ${offset + turns.length} of ${number(total)}` : ""}</h2>
      ${turns.length === 0 && html`<p class="empty">No turns are recorded.</p>`}
      <ol class="turns">${turns.map((turn, index) => html`<${Turn} key=${turn.turn_id} turn=${turn} number=${offset + index + 1} />`)}</ol>
      <nav class="paging" aria-label="Pages">
        ${offset > 0 && html`<a href=${link(["sessions", id], { ...query, offset: Math.max(0, offset - PAGE) })}>Earlier turns</a>`}
        ${offset + turns.length < total && html`<a href=${link(["sessions", id], { ...query, offset: offset + PAGE })}>Later turns</a>`}
      </nav>
      ${hasGateway && html`<${ToolCalls} id=${id} />`}`}<//>
  <//>`;
}

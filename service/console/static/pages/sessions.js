// Sessions with their cost, tokens and errors.
// Shows: what each is about, cost, or why it is unknown, tokens, errors, latency; turns
// with texts, tool calls
import { costs, money, number, plural, sumsOf } from "../app/format.js";
import { has, useMe } from "../app/me.js";
import { Named, OF_AGENT, options, useList } from "../app/names.js";
import { Badge, Cut, Filters, Page, Paging, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { WrongTimes, duration, linkedTime, windowOf } from "../app/time.js";
import { html } from "../app/ui.js";

const LIMITS = ["25", "50", "100"];

const COLUMNS = [
  { label: "Start", sort: (row) => row.start_time, cell: (row) => linkedTime(row.start_time, link(["sessions", row.session_id])) },
  { label: "First input", rest: true, cell: (row) => html`<${Cut} text=${row.first_input} length=${60} />` },
  OF_AGENT,
  { label: "User", cell: (row) => html`<${Named} kind="users" id=${row.user_id} plain=${true} />` },
  { label: "State", cell: (row) => (row.num_traces_with_error > 0 ? html`<${Badge} kind="deny">✕ ${row.num_traces_with_error} failed<//>` : row.has_ended ? "ended" : html`<${Badge} kind="allow">open<//>`) },
  { label: "Turns", number: true, sort: (row) => row.num_traces, cell: (row) => number(row.num_traces) },
  { label: "Tokens", number: true, sort: (row) => row.token_usage.total, cell: (row) => number(row.token_usage.total) },
  { label: "Cost", number: true, sort: (row) => Number(row.cost_summary.total.cost ?? 0), cell: (row) => money(row.cost_summary.total.cost, row.cost_summary.total.currency) },
  { label: "Duration", number: true, sort: (row) => Number(row.duration_ms), cell: (row) => duration(row.duration_ms) },
  { label: "Median turn", number: true, sort: (row) => Number(row.trace_latency_ms_p50), cell: (row) => duration(row.trace_latency_ms_p50) },
];

function Totals({ sessions }) {
  const sum = (value) => sessions.reduce((total, each) => total + Number(value(each) ?? 0), 0);
  // A session without turns costs nothing.
  const totals = sessions.filter((each) => each.num_traces > 0).map((each) => each.cost_summary.total);
  const unknown = totals.filter((each) => each.cost === null).length;
  const failed = sessions.filter((each) => each.num_traces_with_error > 0).length;
  return html`<p class="totals">On this page: ${plural(sessions.length, "session")}, ${plural(sum((each) => each.num_traces), "turn")}, ${number(sum((each) => each.token_usage.total))} tokens, ${totals.length > 0 ? costs(sumsOf(totals), money) : "no costs"}${unknown > 0 && unknown < totals.length ? `, the cost of ${plural(unknown, "session")} unknown` : ""}, ${failed} with errors.</p>`;
}

export default function Sessions({ query }) {
  const hasOtlp = has(useMe(), "otlp");
  const agents = useList("agents");
  const users = useList("users");
  const { sent, wrong } = windowOf(query);
  const read = useRead(wrong.length ? null : "/api/observability/session/list", {
    ...sent,
    agent_id: query.agent_id,
    user_id: query.user_id,
    has_error: query.has_error,
    session_id_prefix: query.prefix,
    limit: query.limit ?? "25",
    after: query.after,
  });
  const fields = [
    { name: "from", label: "Active after", placeholder: "7 days ago" },
    { name: "until", label: "Active before", placeholder: "now" },
    { name: "agent_id", label: "Agent", choices: options(agents) },
    users.length > 0 && { name: "user_id", label: "User", choices: options(users) },
    { name: "has_error", label: "Errors", choices: [{ value: "true", label: "with errors" }, { value: "false", label: "without errors" }] },
    { name: "prefix", label: "Session id begins with" },
    { name: "limit", label: "Rows", choices: LIMITS, any: null, fallback: "25" },
  ].filter(Boolean);
  return html`<${Page} title="Sessions" lead="Conversations with agents, newest start first. Times are as in 2026-05-31 14:00, in the chosen zone.">
    <${Filters} fields=${fields} />
    <${WrongTimes} wrong=${wrong} />
    ${wrong.length === 0 && html`<${Reading} read=${read} what="Reading sessions">${() => html`
      <${Table} caption="Sessions" hideCaption=${true} columns=${COLUMNS} rows=${read.data.sessions}
        empty=${`No session was active in this window. Sessions are recorded by the program that runs the agents${hasOtlp ? ", or sent as OpenTelemetry traces to /v1/traces" : ""}.`} />
      ${read.data.sessions.length > 0 && html`<${Totals} sessions=${read.data.sessions} />`}
      <${Paging} path="sessions" shown=${read.data.sessions.length} next=${read.data.pagination.has_next_page ? read.data.pagination.end_cursor : null} />`}<//>`}
  <//>`;
}

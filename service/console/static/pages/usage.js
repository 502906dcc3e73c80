// Cost and tokens by day, agent, user, provider or model: as a chart, a table, a file.
// Shows: cost and tokens by day, or of each agent, user, provider or model, the largest
// cost first, with sums; a chart for each currency, by day, or by week or month of
// longer times, of the six dearest and all others; where only a part of the cost or the
// tokens is known, that part with `+ unknown`, [why](costs.md#when-a-cost-is-unknown),
// and at a chart how many days have such a part; what is an estimate, and what differs
// from the cost that was reported. Days are those of the chosen time zone
// Does: saves all groups as CSV
import { download } from "../app/api.js";
import { Chart } from "../app/chart.js";
import { costs, exactMoney, knownTokens, money, number, percent, plural, short } from "../app/format.js";
import { Named, options, rowsOf, useList } from "../app/names.js";
import { Cut, Failure, Filters, Page, Reading, Table } from "../app/parts.js";
import { useRead, useSignIns } from "../app/reads.js";
import { link } from "../app/route.js";
import { shown, zone } from "../app/time.js";
import { html, useEffect, useState } from "../app/ui.js";

const SUBJECTS = ["agent", "user", "provider", "model"];
const COLUMN_OF = { day: "day", week: "day", month: "day", agent: "agent_id", user: "user_id", provider: "provider", model: "model" };
const LISTS = { agent: "agents", user: "users" };
const TOP = 6;
const NAME_MAX = 24;
const PAGE = 100;
// More than a chart has bars of so many groups.
const SERIES_ROWS = 1000;
const DAY_MS = 86_400_000;
const DAYS_MAX = { day: 100, week: 700 };

const today = () => shown(Date.now()).slice(0, 10);
const daysBefore = (days) => new Date(Date.parse(today()) - days * DAY_MS).toISOString().slice(0, 10);

// What a bar is of, so that there are about a hundred at most.
function periodOf({ from, until }) {
  const days = from ? (Date.parse(until || today()) - Date.parse(from)) / DAY_MS : 0;
  return days > DAYS_MAX.week ? "month" : days > DAYS_MAX.day ? "week" : "day";
}

const COLUMN_LABEL = { day: "Day", week: "Week from", month: "Month from", agent: "Agent", user: "User", provider: "Provider", model: "Model" };

// Sums have a label, which stands in the first column.
function cellOf(group, index, row) {
  const value = row[COLUMN_OF[group]];
  if (row.label) return index === 0 ? row.label : "";
  if (row.is_other && SUBJECTS.includes(group)) return "all others";
  return LISTS[group] ? html`<${Named} kind=${LISTS[group]} id=${value} />` : html`<${Cut} text=${value ?? "unknown"} length=${NAME_MAX} />`;
}

const counted = (label, sort) => ({ label, number: true, sort, cell: (row) => number(sort(row)) });

const tokens = (label, name) => ({ label, number: true, lines: true, sort: (row) => row.known_token_usage[name], cell: (row) => knownTokens(row, name) });

const estimated = ({ turns, share_of_cost: share }) =>
  turns === 0 ? 0 : `${plural(turns, "turn")}${share === null ? "" : `, ${percent(share)} of the cost`}`;

const differing = ({ turns, cost, reported_cost: reported }) =>
  turns === 0 ? 0 : `${plural(turns, "turn")}: ${exactMoney(cost)}, reported: ${exactMoney(reported)}`;

const columnsOf = (groups) => [
  ...groups.map((group, index) => ({ label: COLUMN_LABEL[group], fixed: true, sort: (row) => row[COLUMN_OF[group]], cell: (row) => cellOf(group, index, row) })),
  counted("Turns", (row) => row.turns),
  counted("Failed", (row) => row.turns_with_error),
  tokens("Tokens in", "prompt"),
  tokens("Tokens out", "completion"),
  // A turn is without a price for the models that lack it; its other ones have theirs.
  { label: "Cost", number: true, lines: true, sort: (row) => Number(row.known_costs[0]?.cost ?? 0), cell: (row) => costs(row.unpriced.length ? [...row.known_costs, { cost: null }] : row.known_costs) },
  { label: "Estimated", lines: true, sort: (row) => row.completeness.estimated.turns, cell: (row) => estimated(row.completeness.estimated) },
  { label: "Differs from reported", lines: true, sort: (row) => row.differing.turns, cell: (row) => differing(row.differing) },
  { label: "Without a price", lines: true, sort: (row) => row.unpriced.reduce((sum, each) => sum + each.turns, 0), cell: (row) => row.unpriced.map((each) => `${number(each.turns)} ${each.reason}`).join(", ") || 0 },
];

const currenciesOf = (rows) => [...new Set(rows.flatMap((row) => row.known_costs.map((each) => each.currency)))].sort();
const OTHERS = Symbol("all others");

// What a group cost in a period, without a row if it had no turn then. What is unknown
// may be of any currency.
function partOf(row, currency) {
  const known = row?.known_costs.find((each) => each.currency === currency)?.cost;
  const hasUnknown = row?.unpriced.length > 0;
  const said = money(hasUnknown ? known : known ?? 0, currency);
  return { value: Number(known ?? 0), hasUnknown, said: hasUnknown && known !== undefined ? `${said} + unknown` : said };
}

// The periods of the rows, and what each group cost in them, the dearest group first.
function seriesOf(rows, currency, other) {
  const days = [...new Set(rows.map((row) => row.day))].sort();
  const groups = new Map();
  for (const row of rows) {
    const group = row.is_other ? OTHERS : other ? row[COLUMN_OF[other]] : "cost";
    groups.set(group, (groups.get(group) ?? new Map()).set(row.day, row));
  }
  const series = [...groups].map(([group, ofDay]) => {
    const parts = days.map((day) => partOf(ofDay.get(day), currency));
    return { group, parts, values: parts.map((each) => each.value) };
  });
  const rank = ({ group, values }) => (group === OTHERS ? -1 : values.reduce((sum, each) => sum + each, 0));
  const told = series.filter((each) => each.parts.some((part) => part.value || part.hasUnknown));
  return { days, series: told.sort((one, two) => rank(two) - rank(one)) };
}

// Bars are of what is known: an unknown cost looks like none.
function noteOf(rows, days, period) {
  const count = days.filter((day) => rows.some((row) => row.day === day && row.unpriced.length > 0)).length;
  return count > 0 && `${number(count)} of ${plural(days.length, period)} ${count === 1 ? "has" : "have"} a part without a price, which isn't drawn.`;
}

function useNames(kind, ids) {
  const [rows, setRows] = useState([]);
  const signIns = useSignIns();
  useEffect(() => {
    let current = true;
    if (kind) rowsOf(kind, ids).then((found) => current && setRows(found));
    return () => {
      current = false;
    };
  }, [kind, ids.join(), signIns]);
  return (id) => rows.find((row) => row.id === id)?.name ?? (kind ? short(id) : id ?? "unknown");
}

function CostByTime({ rows, currency, period, other }) {
  const { days, series } = seriesOf(rows, currency, other);
  const nameOf = useNames(LISTS[other], series.map(({ group }) => group).filter((group) => group !== OTHERS));
  const named = series.map(({ group, ...each }) => ({ ...each, isOther: group === OTHERS, label: group === OTHERS ? "all others" : nameOf(group) }));
  const columns = [{ label: COLUMN_LABEL[period], fixed: true, cell: (row) => row.day }, ...named.map((each) => ({ label: html`<${Cut} text=${each.label} length=${NAME_MAX} />`, number: true, cell: (row) => each.parts[row.index].said }))];
  const drawn = named.filter((each) => each.values.some(Boolean)).map(({ label, isOther, values }) => ({ label, isOther, values }));
  return html`<${Chart} caption=${`Cost by ${period}${other ? ` and ${other}` : ""}, in ${currency}`} note=${noteOf(rows, days, period)} bars=${true} x=${days.map((day) => Date.parse(day) / 1000)} series=${drawn}
    rows=${days.map((day, index) => ({ day, index }))} columns=${columns} />`;
}

// All rows, also those that the table doesn't show.
function Save({ asked }) {
  const [error, setError] = useState(null);
  const save = () => download("/api/usage/export.csv", asked, "usage.csv").then(() => setError(null), setError);
  return html`<p class="buttons"><button type="button" class="quiet" onClick=${save}>Save as CSV</button></p><${Failure} error=${error} />`;
}

const PRESETS = [["Today", 1], ["Last 7 days", 7], ["Last 30 days", 30]];

function Presets({ query }) {
  const isShown = (days) => !query.until && (query.from ? query.from === daysBefore(days - 1) : days === 30);
  return html`<nav class="presets" aria-label="Days">${PRESETS.map(([label, days]) => html`<a aria-current=${isShown(days) ? "true" : undefined}
    href=${link("usage", { ...query, from: daysBefore(days - 1), until: "", offset: "" })}>${label}</a>`)}</nav>`;
}

// Those that have turns in these days, by the names that the table shows.
function useUsed(days, query) {
  const read = useRead("/api/usage", { ...days, group_by: "provider,model", order: "turns", limit: SERIES_ROWS }, { minor: true });
  const used = read.data?.usage ?? [];
  return (name) => [...new Set([query[name], ...used.map((row) => row[name])])].filter(Boolean).sort();
}

// The rows of a ranking are in pages.
function Sums({ read, groups, other, query, isPaged = false }) {
  const { usage, totals, others, groups: all } = read.data;
  const offset = Number(query.offset ?? 0);
  const foot = [others && { ...others, label: `${number(all - usage.length)} others` }, totals && { ...totals, label: "Total" }].filter(Boolean);
  const to = (place) => link("usage", { ...query, offset: place || "" });
  const isPart = isPaged && (offset > 0 || read.data.has_next_page);
  const isBeyond = isPaged && offset > 0 && usage.length === 0;
  const empty = isBeyond ? "There are no rows from here on." : SUBJECTS.some((name) => query[COLUMN_OF[name]]) ? "No turn of these days matches these filters." : "No turns were recorded in these days.";
  return html`<${Table} caption=${`Usage by ${groups.join(" and ")}${other ? ", the largest cost first" : ""}`} columns=${columnsOf(groups)} rows=${usage} foot=${foot} rowKey=${(_, index) => index} empty=${empty} />
    ${usage.length > 0 && html`<p class="meta">What is estimated or without a price is counted for each model: a turn of two models can count twice.</p>`}
    ${isPart && html`<nav class="paging" aria-label="Pages">${isBeyond
      ? html`<a href=${to(0)}>First page</a>`
      : html`<span role="status">${number(offset + 1)} to ${number(offset + usage.length)} of ${number(all)}</span>
        ${offset > 0 && html`<a href=${to(Math.max(0, offset - PAGE))}>Previous page</a>`}`}
      ${read.data.has_next_page && html`<a href=${to(offset + PAGE)}>Next page</a>`}</nav>`}`;
}

export default function Usage({ query }) {
  const agents = useList("agents");
  const other = SUBJECTS.includes(query.by) ? query.by : null;
  const isRanked = other && !query.each;
  const period = periodOf(query);
  const days = { from_day: query.from, until_day: query.until, time_zone: zone() };
  const filtered = { ...days, agent_id: query.agent_id, provider: query.provider, model: query.model };
  const groups = isRanked ? [other] : [period, other].filter(Boolean);
  const asked = { ...filtered, group_by: groups.join(","), order: isRanked ? "cost" : undefined };
  const series = useRead("/api/usage", { ...filtered, group_by: [period, other].filter(Boolean).join(","), top: other ? TOP : undefined, limit: SERIES_ROWS });
  const ranking = useRead(isRanked ? "/api/usage" : null, { ...asked, limit: PAGE, offset: query.offset });
  const used = useUsed(days, query);
  const fields = [
    { name: "from", label: "From day", type: "date" },
    { name: "until", label: "Until day", type: "date" },
    { name: "by", label: "By", choices: SUBJECTS, any: "day" },
    other && { name: "each", label: "Rows", choices: [{ value: "1", label: `each ${period}` }], any: "all days together" },
    { name: "agent_id", label: "Agent", choices: options(agents) },
    { name: "provider", label: "Provider", choices: used("provider") },
    { name: "model", label: "Model", choices: used("model") },
  ].filter(Boolean);
  return html`<${Page} title="Usage" lead="Tokens and cost of turns, by the day in ${zone()} on which they began; the last 30 days, unless you choose others.">
    <${Presets} query=${query} />
    <${Filters} fields=${fields} />
    <${Reading} read=${series} what="Reading usage">${() => html`
      ${series.data.has_next_page && html`<p class="warning">Only the first ${number(SERIES_ROWS)} rows are shown: choose fewer days.</p>`}
      ${currenciesOf(series.data.usage).map((currency) => html`<${CostByTime} key=${currency} rows=${series.data.usage} currency=${currency} period=${period} other=${other} />`)}
      <${Save} asked=${asked} />
      ${!isRanked && html`<${Sums} read=${series} groups=${groups} query=${query} />`}`}<//>
    ${isRanked && html`<${Reading} read=${ranking} what="Reading the sums">${() => html`<${Sums} read=${ranking} groups=${groups} other=${other} query=${query} isPaged=${true} />`}<//>`}
  <//>`;
}

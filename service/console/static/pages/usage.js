// Cost and tokens by day, agent, user, provider or model: as a chart, a table, a file.
import { download } from "../app/api.js";
import { Chart } from "../app/chart.js";
import { costs, money, number } from "../app/format.js";
import { Named, options, useList } from "../app/names.js";
import { Failure, Filters, Page, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { html, useState } from "../app/ui.js";

const GROUPS = ["day", "agent", "user", "provider", "model"];
const SERIES_MAX = 6;
const LIMIT = 1000;
const COLUMN_OF = { day: "day", agent: "agent_id", user: "user_id", provider: "provider", model: "model" };

function cellOf(group, row) {
  const value = row[COLUMN_OF[group]];
  if (group === "agent") return html`<${Named} kind="agents" id=${value} />`;
  if (group === "user") return html`<${Named} kind="users" id=${value} />`;
  return value ?? "unknown";
}

const counted = (label, sort) => ({ label, number: true, sort, cell: (row) => number(sort(row)) });

const columnsOf = (groups) => [
  ...groups.map((group) => ({ label: group[0].toUpperCase() + group.slice(1), sort: (row) => row[COLUMN_OF[group]], cell: (row) => cellOf(group, row) })),
  counted("Turns", (row) => row.turns),
  counted("Failed", (row) => row.turns_with_error),
  counted("Tokens in", (row) => row.known_token_usage.prompt),
  counted("Tokens out", (row) => row.known_token_usage.completion),
  // A turn is without a price for the models that lack it; its other ones have theirs.
  { label: "Cost", number: true, sort: (row) => Number(row.known_costs[0]?.cost ?? 0), cell: (row) => costs(row.unpriced.length ? [...row.known_costs, { cost: null }] : row.known_costs) },
  { label: "Without a price", sort: (row) => row.unpriced.reduce((sum, each) => sum + each.turns, 0), cell: (row) => row.unpriced.map((each) => `${number(each.turns)} ${each.reason}`).join(", ") || 0 },
];

const currenciesOf = (rows) => [...new Set(rows.flatMap((row) => row.known_costs.map((each) => each.currency)))].sort();
const costIn = (row, currency) => row.known_costs.find((each) => each.currency === currency)?.cost;

// The days of the rows as x, and a series for each of the largest other groups.
function chartOf(rows, currency, other, nameOf) {
  const days = [...new Set(rows.map((row) => row.day))].sort();
  const sums = new Map();
  for (const row of rows) {
    const name = other ? nameOf(row[COLUMN_OF[other]]) : "cost";
    const ofDay = sums.get(name) ?? new Map();
    sums.set(name, ofDay);
    ofDay.set(row.day, (ofDay.get(row.day) ?? 0) + Number(costIn(row, currency) ?? 0));
  }
  const total = (ofDay) => [...ofDay.values()].reduce((sum, each) => sum + each, 0);
  const largest = [...sums].sort((one, two) => total(two[1]) - total(one[1])).slice(0, SERIES_MAX);
  return {
    days,
    all: sums.size,
    x: days.map((day) => Date.parse(day) / 1000),
    series: largest.map(([label, ofDay]) => ({ label, values: days.map((day) => Number((ofDay.get(day) ?? 0).toPrecision(12))) })),
  };
}

function CostByDay({ rows, currency, other }) {
  const agents = useList("agents");
  const users = useList("users");
  const names = other === "agent" ? agents : other === "user" ? users : [];
  const nameOf = (value) => names.find((each) => each.id === value)?.name ?? String(value ?? "unknown").slice(0, 24);
  const { days, all, x, series } = chartOf(rows, currency, other, nameOf);
  const columns = [{ label: "Day", cell: (row) => row.day }, ...series.map((each) => ({ label: each.label, number: true, cell: (row) => money(each.values[row.index], currency) }))];
  return html`<${Chart} caption=${`Cost by day${other ? ` and ${other}` : ""}, in ${currency}${all > SERIES_MAX ? `; the largest ${SERIES_MAX} of ${all}` : ""}`} x=${x} series=${series} bars=${series.length === 1}
    rows=${days.map((day, index) => ({ day, index }))} columns=${columns} />`;
}

// All rows, also those that the table doesn't show.
function Save({ asked }) {
  const [error, setError] = useState(null);
  const save = () => download("/api/usage/export.csv", asked, "usage.csv").then(() => setError(null), setError);
  return html`<p class="buttons"><button type="button" class="quiet" onClick=${save}>Save as CSV</button></p><${Failure} error=${error} />`;
}

export default function Usage({ query }) {
  const agents = useList("agents");
  const other = GROUPS.includes(query.by) && query.by !== "day" ? query.by : null;
  const groups = query.total ? [other ?? "agent"] : ["day", other].filter(Boolean);
  const asked = {
    group_by: groups.join(","), from_day: query.from, until_day: query.until, agent_id: query.agent_id,
    provider: query.provider, model: query.model, order: query.total && "cost",
  };
  const read = useRead("/api/usage", { ...asked, limit: LIMIT });
  const fields = [
    { name: "from", label: "From day", type: "date" },
    { name: "until", label: "Until day", type: "date" },
    { name: "by", label: "By day and", choices: GROUPS.slice(1), any: "nothing else" },
    { name: "total", label: "Days", choices: [{ value: "1", label: "all together" }], any: "each" },
    { name: "agent_id", label: "Agent", choices: options(agents) },
    { name: "provider", label: "Provider" },
    { name: "model", label: "Model" },
  ];
  return html`<${Page} title="Usage" lead="Tokens and cost of turns, by the day in UTC on which they began; the last 30 days, unless you choose others.">
    <${Filters} fields=${fields} />
    <${Reading} read=${read} what="Reading usage">${() => html`
      ${!query.total && currenciesOf(read.data.usage).map((currency) => html`<${CostByDay} key=${currency} rows=${read.data.usage} currency=${currency} other=${other} />`)}
      <${Save} asked=${asked} />
      <${Table} caption="Usage" columns=${columnsOf(groups)} rows=${read.data.usage} rowKey=${(_, index) => index} empty="No turns were recorded in these days." />
      ${read.data.usage.length === LIMIT && html`<p class="warning">Only the first ${number(LIMIT)} rows are shown; choose fewer days.</p>`}`}<//>
  <//>`;
}

// What saving a draft of rules would change.
import { number, plural } from "./format.js";
import { has, useMe } from "./me.js";
import { Named, OF_CONNECTOR } from "./names.js";
import { RULE, Stance, Table, ruleKey } from "./parts.js";
import { link } from "./route.js";
import { RuleWarnings } from "./rule_warnings.js";
import { Time } from "./time.js";
import { html } from "./ui.js";

const NAMED_MAX = 10;
const RULE_COLUMNS = [OF_CONNECTOR, ...RULE];
const CHANGE_COLUMNS = [
  OF_CONNECTOR,
  { label: "Tool", cell: (row) => html`<code>${row.tool}</code>` },
  { label: "Now", cell: (row) => html`<${Stance} stance=${row.before} />` },
  { label: "Then", cell: (row) => html`<${Stance} stance=${row.after} />` },
];
const RECORDED_COLUMNS = [
  OF_CONNECTOR,
  { label: "Tool", cell: (row) => html`<a href=${link("calls", { connector_id: row.connector_id, tool: row.tool })}><code>${row.tool}</code></a>` },
  { label: "Decided", cell: (row) => html`<${Stance} stance=${row.decided} />` },
  { label: "Would be", cell: (row) => html`<${Stance} stance=${row.would_be} />` },
  { label: "Calls", number: true, cell: (row) => number(row.calls) },
  { label: "Last call", cell: (row) => html`<${Time} at=${row.last_at} />` },
];

// What would have become of the calls of the past days.
function Recorded({ recorded }) {
  const { calls, changed, examples } = recorded;
  const text = calls === 0 ? "No calls of these connectors are recorded" : `${number(changed)} of ${plural(calls, "recorded call")} would have been decided otherwise`;
  return html`<p class=${changed ? "warning" : "done"} role="status">${text}, since <${Time} at=${recorded.since} />.${!recorded.is_complete && " Only the tools called most were compared."}</p>
    ${changed > 0 && html`<${Table} caption="Recorded calls that would have been decided otherwise, most frequent first" columns=${RECORDED_COLUMNS} rows=${examples} rowKey=${(row) => `${row.connector_id} ${row.tool} ${row.decided}`} empty="" />`}`;
}

export function Preview({ preview, take }) {
  const hasGateway = has(useMe(), "gateway");
  const changes = preview.connectors.flatMap((each) => each.tools.map((tool) => ({ connector_id: each.connector_id, ...tool })));
  const wider = changes.filter((each) => each.after === "allow").length;
  return html`<section aria-label="Preview">
    <h3>What saving would change</h3>
    <p class=${changes.length ? "warning" : "done"} role="status">${changes.length ? `${plural(changes.length, "decision changes", "decisions change")}, ${wider} of them to allow.` : "No decision changes."}</p>
    ${preview.not_observed.length > 0 && html`<p class="warning">The tools of ${preview.not_observed.slice(0, NAMED_MAX).map((id, index) => html`${index ? ", " : ""}<${Named} kind="connectors" id=${id} plain=${true} />`)}${preview.not_observed.length > NAMED_MAX && ` and ${plural(preview.not_observed.length - NAMED_MAX, "other connector")}`} ${hasGateway ? "were never" : "aren't"} observed, so no decisions on them are shown.</p>`}
    <${Table} caption="Decisions that change, by tool" columns=${CHANGE_COLUMNS} rows=${changes} rowKey=${(row) => `${row.connector_id} ${row.tool}`} empty="No decision changes." />
    ${hasGateway && html`<${Recorded} recorded=${preview.recorded} />`}
    <div class="columns">
      <${Table} caption="Rules added" columns=${RULE_COLUMNS} rows=${preview.added} rowKey=${ruleKey} empty="No rules are added." />
      <${Table} caption="Rules removed" columns=${RULE_COLUMNS} rows=${preview.removed} rowKey=${ruleKey} empty="No rules are removed." />
    </div>
    <${RuleWarnings} warnings=${preview.warnings} take=${take} />
  </section>`;
}

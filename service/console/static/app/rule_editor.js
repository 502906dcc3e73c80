// Editing an agent's rules: a batch, its preview, and saving it at the version it was
// made from.
import { Outcome, useAction } from "./actions.js";
import { call } from "./api.js";
import { number, plural } from "./format.js";
import { Named, OF_CONNECTOR, options, useList } from "./names.js";
import { Field, RULE, Stance, Table } from "./parts.js";
import { link } from "./route.js";
import { RuleWarnings } from "./rule_warnings.js";
import { Time } from "./time.js";
import { html, useEffect, useState } from "./ui.js";

const STANCES = ["allow", "ask", "deny"];
const RULES_MAX = 1000;
const DAYS = ["1", "7", "30", "90"].map((value) => ({ value, label: plural(Number(value), "day") }));

function Row({ rule, index, connectors, change, remove }) {
  return html`<fieldset><legend>Rule ${index + 1}</legend><div class="row">
    <${Field} label="Connector" value=${rule.connector_id} onValue=${(value) => change({ connector_id: value })} choices=${connectors} any=${rule.connector_id ? null : "choose"} required=${true} />
    <${Field} label="Tool pattern" value=${rule.tool_pattern} onValue=${(value) => change({ tool_pattern: value })} required=${true} maxlength="256" />
    <${Field} label="Stance" value=${rule.stance} onValue=${(value) => change({ stance: value })} choices=${STANCES} any=${null} />
    <button type="button" class="quiet" onClick=${remove}>Remove rule ${index + 1}</button>
  </div></fieldset>`;
}

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
const ruleKey = (rule) => `${rule.connector_id} ${rule.tool_pattern}`;

// What would have become of the calls of the past days.
function Recorded({ recorded }) {
  const { calls, changed, examples } = recorded;
  const text = calls === 0 ? "No calls of these connectors are recorded" : `${number(changed)} of ${plural(calls, "recorded call")} would have been decided otherwise`;
  return html`<p class=${changed ? "warning" : "done"} role="status">${text}, since <${Time} at=${recorded.since} />.${!recorded.is_complete && " Only the tools called most were compared."}</p>
    ${changed > 0 && html`<${Table} caption="Recorded calls that would have been decided otherwise, most frequent first" columns=${RECORDED_COLUMNS} rows=${examples} rowKey=${(row) => `${row.connector_id} ${row.tool} ${row.decided}`} empty="" />`}`;
}

function Preview({ preview, take }) {
  const changes = preview.connectors.flatMap((each) => each.tools.map((tool) => ({ connector_id: each.connector_id, ...tool })));
  const wider = changes.filter((each) => each.after === "allow").length;
  return html`<section aria-label="Preview">
    <h3>What saving would change</h3>
    <p class=${changes.length ? "warning" : "done"} role="status">${changes.length ? `${plural(changes.length, "decision changes", "decisions change")}, ${wider} of them to allow.` : "No decision changes."}</p>
    ${preview.not_observed.length > 0 && html`<p class="warning">The tools of ${preview.not_observed.map((id) => html`<${Named} kind="connectors" id=${id} plain=${true} /> `)}were never observed, so no decisions on them are shown.</p>`}
    <${Table} caption="Decisions that change, by tool" columns=${CHANGE_COLUMNS} rows=${changes} rowKey=${(row) => `${row.connector_id} ${row.tool}`} empty="No decision changes." />
    <${Recorded} recorded=${preview.recorded} />
    <div class="columns">
      <${Table} caption="Rules added" columns=${RULE_COLUMNS} rows=${preview.added} rowKey=${ruleKey} empty="No rules are added." />
      <${Table} caption="Rules removed" columns=${RULE_COLUMNS} rows=${preview.removed} rowKey=${ruleKey} empty="No rules are removed." />
    </div>
    <${RuleWarnings} warnings=${preview.warnings} take=${take} />
  </section>`;
}

export function RuleEditor({ agent, rules, version, saved }) {
  const [open, setOpen] = useState(false);
  const [message, setMessage] = useState("");
  const close = (answer) => {
    setOpen(false);
    setMessage(answer.message);
    saved(answer);
  };
  return html`<p class="buttons"><button type="button" onClick=${() => setOpen(!open)} aria-expanded=${open ? "true" : "false"}>${open ? "Close the editor" : "Edit rules"}</button></p>
    ${open && html`<${Editor} key=${version} agent=${agent} rules=${rules} version=${version} saved=${close} />`}
    <p role="status" class=${message && !open ? "done" : "hidden"}>${!open && message && `✓ ${message}`}</p>`;
}

function Editor({ agent, rules, version, saved }) {
  const [draft, setDraft] = useState(rules);
  const [preview, setPreview] = useState(null);
  const [days, setDays] = useState("7");
  const known = options(useList("connectors"));
  const others = [...new Set(draft.map((rule) => rule.connector_id))].filter((id) => id && !known.some((each) => each.value === id));
  const connectors = [...known, ...others.map((id) => ({ value: id, label: `${id.slice(0, 8)}…` }))];
  const path = `/api/mcp/agents/${agent}/tools`;
  const emptied = [...new Set(rules.map((rule) => rule.connector_id))].filter((id) => !draft.some((rule) => rule.connector_id === id));
  const body = { rules: draft };
  const previewing = useAction(async () => {
    const answer = await call("POST", `${path}/preview`, { body, query: { days }, ifMatch: version });
    setPreview(answer.data);
    return answer;
  });
  const saving = useAction(() => call("PUT", path, { body, ifMatch: preview.version }), saved);
  // A preview is of one draft; another draft needs another.
  useEffect(() => setPreview(null), [draft, days]);
  const change = (index, values) => setDraft(draft.map((rule, at) => (at === index ? { ...rule, ...values } : rule)));
  const take = ({ connector_id, tool_pattern, suggestion }) =>
    setDraft(draft.map((rule) => (rule.connector_id === connector_id && rule.tool_pattern === tool_pattern ? { ...rule, tool_pattern: suggestion } : rule)));
  const show = (event) => {
    event.preventDefault();
    previewing.run();
  };
  return html`<form class="editor" onSubmit=${show} aria-label="Rules">
    <p class="meta">These are all rules of the agent at version ${version}. Nothing changes before you save.</p>
    ${draft.map((rule, index) => html`<${Row} key=${index} rule=${rule} index=${index} connectors=${connectors}
      change=${(values) => change(index, values)} remove=${() => setDraft(draft.filter((_, at) => at !== index))} />`)}
    ${emptied.length > 0 && draft.length > 0 && html`<p class="warning">A batch leaves connectors alone that it doesn't name. To remove the last rule of ${emptied.map((id) => html`<${Named} kind="connectors" id=${id} plain=${true} /> `)}, use Remove these rules above.</p>`}
    ${draft.length === 0 && html`<p class="warning">Without rules, every tool of this agent is denied.</p>`}
    <${Field} label="Compare recorded calls of the past" value=${days} onValue=${setDays} choices=${DAYS} any=${null} />
    <p class="buttons">
      <button type="button" class="quiet" disabled=${draft.length >= RULES_MAX} onClick=${() => setDraft([...draft, { connector_id: draft.at(-1)?.connector_id ?? "", tool_pattern: "", stance: "ask" }])}>Add a rule</button>
      <button type="submit" disabled=${previewing.busy}>${previewing.busy ? "Working …" : "Preview"}</button>
      ${preview && html`<button type="button" disabled=${saving.busy} onClick=${() => saving.run()}>${saving.busy ? "Saving …" : "Save these rules"}</button>`}
    </p>
    <${Outcome} action=${{ ...previewing, message: null }} />
    <${Outcome} action=${saving} />
    ${preview && html`<${Preview} preview=${preview} take=${take} />`}
  </form>`;
}

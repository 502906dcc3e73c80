// Restoring an agent's rules as of a moment.
import { Confirmed } from "./actions.js";
import { call } from "./api.js";
import { Named } from "./names.js";
import { Field, Reading, Stance, Table } from "./parts.js";
import { useRead } from "./reads.js";
import { parseMoment } from "./time.js";
import { html, useState } from "./ui.js";

const COLUMNS = [
  { label: "Connector", cell: (rule) => html`<${Named} kind="connectors" id=${rule.connector_id} plain=${true} />` },
  { label: "Pattern", cell: (rule) => html`<code>${rule.tool_pattern}</code>` },
  { label: "Stance", cell: (rule) => html`<${Stance} stance=${rule.stance} />` },
];

export function RestoreRules({ agent, version, restored }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(null);
  const look = (event) => {
    event.preventDefault();
    setAt(parseMoment(text) ?? null);
  };
  const read = useRead(at === null ? null : `/api/mcp/agents/${agent}/tools`, { at }, { minor: true });
  const body = { at: /^\d+$/.test(at ?? "") ? Number(at) : at };
  return html`<details><summary>Restore earlier rules</summary>
    <form class="filters" onSubmit=${look}><${Field} label="Rules as of" value=${text} onValue=${setText} required=${true} placeholder="a time or a position" /><span class="buttons"><button type="submit">Show them</button></span></form>
    ${at !== null && html`<${Reading} read=${read} what="Reading the rules then">${() => html`
      <${Table} caption="Rules then" columns=${COLUMNS} rows=${read.data.rules} rowKey=${(rule) => `${rule.connector_id} ${rule.tool_pattern}`} empty="There were no rules: every tool was denied." />
      <p class="buttons"><${Confirmed} label="Restore these rules" title="Restore the rules of that moment?" after=${restored}
        perform=${() => call("POST", `/api/mcp/agents/${agent}/tools/restore`, { body, ifMatch: version })}>
        <p>All rules of the agent are replaced by those of that moment, as a new change; nothing is removed from the history.</p><//></p>`}<//>`}
  </details>`;
}

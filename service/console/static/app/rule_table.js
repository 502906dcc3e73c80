// A draft of rules: a table of texts, one row of which is edited. A form for each rule
// would have hundreds of thousands of elements.
import { number, plural } from "./format.js";
import { Named } from "./names.js";
import { Badge, Field, FieldErrors, Stance } from "./parts.js";
import { h, html, useEffect, useId, useMemo, useRef, useState } from "./ui.js";

const STANCES = ["allow", "ask", "deny"];
export const LABELS = { connector_id: "Connector", tool_pattern: "Tool pattern", stance: "Stance" };

function Edited({ rule, index, connectors, problems, change, remove, done }) {
  return html`<fieldset><legend>Rule ${index + 1}</legend><${FieldErrors.Provider} value=${problems}><div class="row">
    <${Field} label=${LABELS.connector_id} name="connector_id" value=${rule.connector_id} onValue=${(value) => change({ connector_id: value })} choices=${connectors} any=${rule.connector_id ? null : "choose"} required=${true} />
    <${Field} label=${LABELS.tool_pattern} name="tool_pattern" value=${rule.tool_pattern} onValue=${(value) => change({ tool_pattern: value })} required=${true} maxlength="256" />
    <${Field} label=${LABELS.stance} name="stance" value=${rule.stance} onValue=${(value) => change({ stance: value })} choices=${STANCES} any=${null} />
    <span class="buttons"><button type="button" class="quiet" onClick=${done}>Done</button>
    <button type="button" class="quiet" onClick=${remove}>Remove rule ${index + 1}</button></span>
  </div><//>
  ${problems.filter((each) => !each.path).map((each) => html`<small class="wrong">✕ ${each.message}</small>`)}</fieldset>`;
}

const COLUMNS = ["Rule", "Connector", "Pattern", "Stance", "Not saved", "Change"];

function rowOf({ rule, index, isNew, problems, edit }) {
  const wrong = problems.map((each) => `${each.path ? `${LABELS[each.path]}: ` : ""}${each.message}`).join("; ");
  return h("tr", { key: rule.key }, [
    h("td", { textContent: number(index + 1) }),
    h("td", null, rule.connector_id ? Named({ kind: "connectors", id: rule.connector_id, plain: true }) : "–"),
    h("td", null, h("code", { textContent: rule.tool_pattern })),
    h("td", null, html`<${Stance} stance=${rule.stance} />`),
    h("td", null, isNew ? html`<${Badge} kind="ask">not saved<//>` : null, wrong ? html` <small class="wrong">✕ ${wrong}</small>` : null),
    h("td", null, h("button", { type: "button", class: "quiet", "aria-label": `Edit rule ${index + 1}`, onClick: edit, textContent: "Edit" })),
  ]);
}

// `problems` are { key, path, message } of rules; `names` are of connectors, by id.
export function RuleTable({ draft, isNew, editing, problems, connectors, names, change, remove, edit, add, mayAdd }) {
  const [wanted, setWanted] = useState("");
  const holder = useRef(null);
  const place = useRef(null);
  const id = useId();
  // Rows that stay as they are keep their elements: a thousand aren't compared at each key.
  const rows = useMemo(() => new Map(), [names]);
  const words = wanted.trim().toLowerCase();
  const matches = (rule) => rule.key === editing || `${names.get(rule.connector_id) ?? rule.connector_id} ${rule.tool_pattern} ${rule.stance}`.toLowerCase().includes(words);
  // What was edited last has the focus: its form, then its row, or what took its place.
  useEffect(() => {
    const form = holder.current.querySelector("fieldset");
    if (form) {
      if (form.contains(document.activeElement) || (place.current?.key === editing && problems.length === 0)) return;
      place.current = { key: editing, index: draft.findIndex((rule) => rule.key === editing) };
      (form.querySelector("[aria-invalid]") ?? form.querySelector("select, input")).focus();
    } else if (place.current) {
      const buttons = [...holder.current.querySelectorAll("button")];
      const label = `Edit rule ${place.current.index + 1}`;
      (buttons.find((each) => each.ariaLabel === label) ?? buttons.at(-1)).focus();
      place.current = null;
    }
  }, [editing, problems]);
  const shown = draft.map((rule, index) => ({ rule, index })).filter(({ rule }) => !words || matches(rule));
  const line = ({ rule, index }) => {
    const own = problems.filter((each) => each.key === rule.key);
    if (rule.key === editing) {
      return html`<tr key=${rule.key} class="editing"><td colspan=${COLUMNS.length}><${Edited} rule=${rule} index=${index} connectors=${connectors} problems=${own}
        change=${(values) => change(rule.key, values)} remove=${() => remove(rule.key)} done=${() => edit(null)} /></td></tr>`;
    }
    const state = [index, isNew(rule), own.map((each) => each.message).join()].join();
    const kept = rows.get(rule.key);
    if (kept?.rule === rule && kept.state === state) return kept.row;
    const row = rowOf({ rule, index, isNew: isNew(rule), problems: own, edit: () => edit(rule.key) });
    rows.set(rule.key, { rule, state, row });
    return row;
  };
  return html`<div ref=${holder}>
    <div class="row"><${Field} label="Find in these rules" type="search" value=${wanted} onValue=${setWanted} placeholder="by any column" onKeyDown=${(event) => event.key === "Enter" && event.preventDefault()} />
      <span role="status" class="meta">${words ? `${number(shown.length)} of ${plural(draft.length, "rule")}` : plural(draft.length, "rule")}</span></div>
    ${shown.length > 0 && html`<div class="scroll" role="region" aria-labelledby=${id} tabindex="0"><table>
      <caption id=${id} class="hidden">Rules of the draft</caption>
      <thead><tr>${COLUMNS.map((label) => html`<th scope="col">${label}</th>`)}</tr></thead>
      <tbody>${shown.map(line)}</tbody></table></div>`}
    <p class="buttons"><button type="button" class="quiet add" disabled=${!mayAdd} onClick=${add}>Add a rule</button></p>
  </div>`;
}

// Two changes of the same rules: what each did, and both together.
import { OF_CONNECTOR } from "./names.js";
import { Stance, Table, ruleKey } from "./parts.js";
import { html } from "./ui.js";

const byKey = (rules) => new Map(rules.map((rule) => [ruleKey(rule), rule]));
const stanceIn = (rules, key) => rules.get(key)?.stance;

// Whether two lists have the same rules: their order means nothing.
export function isSame(one, other) {
  const [before, after] = [byKey(one), byKey(other)];
  return one.length === other.length && before.size === after.size && [...before.keys()].every((key) => stanceIn(before, key) === stanceIn(after, key));
}

// The rules that saving a batch leaves: those of connectors that it doesn't name stay,
// unless it is empty.
export function afterSaving(batch, before) {
  const named = new Set(batch.map((rule) => rule.connector_id));
  return batch.length === 0 ? batch : [...batch, ...before.filter((rule) => !named.has(rule.connector_id))];
}

// The rules of theirs, changed as the draft changes those that it was made from. Rules
// that the draft has twice, such as new ones without a pattern, stay in it twice.
export function onTop(base, theirs, draft) {
  const [before, merged, after] = [base, theirs, draft].map(byKey);
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    if (stanceIn(before, key) === stanceIn(after, key)) continue;
    if (after.has(key)) merged.set(key, after.get(key));
    else merged.delete(key);
  }
  return [...merged.values(), ...draft.filter((rule) => after.get(ruleKey(rule)) !== rule)];
}

const shown = (stance) => (stance ? html`<${Stance} stance=${stance} />` : html`<span class="none">no rule</span>`);

const COLUMNS = [
  OF_CONNECTOR,
  { label: "Pattern", cell: (row) => html`<code>${row.tool_pattern}</code>` },
  { label: "When you began", cell: (row) => shown(row.before) },
  { label: "Now", cell: (row) => shown(row.now) },
  { label: "In your draft", cell: (row) => shown(row.mine) },
  { label: "Changed", cell: (row) => (row.now === row.before ? "in your draft" : row.mine === row.before ? "meanwhile" : row.mine === row.now ? "both, alike" : html`<strong>both: yours would count</strong>`) },
];

export function Conflict({ base, theirs, draft, keep, drop }) {
  const [before, now, mine] = [base, theirs.rules, draft].map(byKey);
  const rows = [...new Map([...before, ...now, ...mine])].map(([key, rule]) => ({ ...rule, key, before: stanceIn(before, key), now: stanceIn(now, key), mine: stanceIn(mine, key) }))
    .filter((row) => row.now !== row.before || row.mine !== row.before);
  return html`<section class="failure" aria-label="Changed meanwhile">
    <p role="alert"><strong>These rules have changed meanwhile:</strong> they are at version ${theirs.version}. Your draft is kept.</p>
    <${Table} caption="What was changed since you began" columns=${COLUMNS} rows=${rows} rowKey=${(row) => row.key} empty="The same rules as when you began." />
    <p class="buttons"><button type="button" onClick=${keep}>Put my changes on top of version ${theirs.version}</button>
      <button type="button" class="quiet" onClick=${drop}>Drop my draft</button></p>
  </section>`;
}

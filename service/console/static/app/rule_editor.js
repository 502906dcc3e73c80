// Editing an agent's rules: a batch, its preview, and saving it at the version it was
// made from.
import { Outcome, useAction } from "./actions.js";
import { call, get } from "./api.js";
import { plural } from "./format.js";
import { has, useMe } from "./me.js";
import { Named, options, useList } from "./names.js";
import { Field } from "./parts.js";
import { Conflict, afterSaving, isSame, onTop } from "./rule_merge.js";
import { Preview } from "./rule_preview.js";
import { LABELS, RuleTable } from "./rule_table.js";
import { mayLeave, useUnsaved } from "./unsaved.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./ui.js";

const RULES_MAX = 1000;
const DAYS = ["1", "7", "30", "90"].map((value) => ({ value, label: plural(Number(value), "day") }));
const PROBLEM = /^rules\[(\d+)\](?:\.(\w+))?$/;

let keysMade = 0;
const keyed = (rules) => rules.map((rule) => ({ ...rule, key: (keysMade += 1) }));
const textOf = (rule) => `${rule.connector_id} ${rule.tool_pattern} ${rule.stance}`;

export function RuleEditor({ agent, rules, version, saved }) {
  const [open, setOpen] = useState(false);
  const [message, setMessage] = useState("");
  const button = useRef(null);
  const close = (answer) => {
    const at = document.activeElement;
    // What had the focus goes.
    if (at === document.body || at.closest("form.editor")) button.current.focus();
    setOpen(false);
    setMessage(answer.message);
    saved(answer);
  };
  const toggle = () => (!open || mayLeave()) && setOpen(!open);
  return html`<p class="buttons"><button type="button" ref=${button} onClick=${toggle} aria-expanded=${open ? "true" : "false"}>${open ? "Close the editor" : "Edit rules"}</button></p>
    ${open && html`<${Editor} agent=${agent} rules=${rules} version=${version} saved=${close} />`}
    <p role="status" class=${message && !open ? "done" : "hidden"}>${!open && message && `✓ ${message}`}</p>`;
}

const NONE = [];

// Of what the service found wrong: what isn't at the rule that is edited, named as the
// page does.
function unseen(error, problems, draft, editing) {
  const places = new Map(draft.map((rule, index) => [rule.key, index + 1]));
  const others = problems.filter(({ key }) => key !== editing && places.has(key))
    .map(({ key, path, message }) => ({ path: [`Rule ${places.get(key)}`, LABELS[path]].filter(Boolean).join(", "), message }));
  return error && { ...error, message: error.message, errors: [...others, ...(error.errors ?? []).filter((each) => !PROBLEM.test(each.path))] };
}

// Nothing within can be changed while it is held; what had the focus gets it back.
function useHeld(holder, isHeld) {
  useLayoutEffect(() => {
    if (!isHeld) return undefined;
    const element = holder.current;
    const focused = document.activeElement;
    element.inert = true;
    return () => {
      element.inert = false;
      if (element.contains(focused) && [focused, document.body].includes(document.activeElement)) focused.focus();
    };
  }, [isHeld]);
}

function Editor({ agent, rules, version, saved }) {
  // What the draft was made from, and the rules as they have become meanwhile.
  const [base, setBase] = useState({ rules, version });
  const [theirs, setTheirs] = useState(null);
  // What was sent to be saved, for its answer may be lost.
  const sent = useRef(null);
  const [wasSaved, setWasSaved] = useState(false);
  const [draft, setDraft] = useState(() => keyed(rules));
  const [editing, setEditing] = useState(null);
  const [problems, setProblems] = useState(NONE);
  // A preview is of one draft; another draft needs another.
  const [previewed, setPreviewed] = useState({});
  const [days, setDays] = useState("7");
  const hasGateway = has(useMe(), "gateway");
  const form = useRef(null);
  const holder = useRef(null);
  const list = useList("connectors");
  const names = useMemo(() => new Map(list.map((each) => [each.id, each.name])), [list]);
  // With those that the caller can't list.
  const connectors = useMemo(() => {
    const others = [...new Set([...base.rules, ...draft].map((rule) => rule.connector_id))].filter((id) => id && !names.has(id));
    return [...options(list), ...others.map((id) => ({ value: id, label: `${id.slice(0, 8)}…` }))];
  }, [list, base]);
  const before = useMemo(() => new Set(base.rules.map(textOf)), [base]);
  const named = new Set(draft.map((rule) => rule.connector_id));
  const emptied = [...new Set(base.rules.map((rule) => rule.connector_id))].filter((id) => !named.has(id));
  const path = `/api/mcp/agents/${agent}/tools`;
  const body = { rules: draft.map(({ key, ...rule }) => rule) };
  const isChanged = useMemo(() => !isSame(base.rules, draft), [base, draft]);
  const preview = previewed.draft === draft && previewed.days === days && previewed.base === base ? previewed.data : null;
  useUnsaved(isChanged);

  // Other rules than those that the draft was made from.
  const compare = (now) => {
    setPreviewed({});
    if (isSame(now.rules, draft)) saved({ message: "the rules are saved as in your draft" });
    else if (sent.current && isSame(now.rules, afterSaving(sent.current, base.rules))) {
      setBase(now);
      setWasSaved(true);
    } else if (isChanged) setTheirs(now);
    else restart(now, now.rules);
  };
  const restart = (from, wanted) => {
    setBase(from);
    setDraft(keyed(wanted));
    setTheirs(null);
    setEditing(null);
    setProblems(NONE);
    setWasSaved(false);
    previewing.forget();
    saving.forget();
  };
  const keep = () => {
    restart(theirs, onTop(base.rules, theirs.rules, draft));
    form.current.querySelector("[type=submit]").focus();
  };
  const tried = (perform) => async () => {
    try {
      return await perform();
    } catch (error) {
      if (error.status === 412) {
        const { data } = await get(path);
        if (data.version !== base.version) {
          compare(data);
          return undefined;
        }
      }
      const found = (error.errors ?? []).map((each) => [PROBLEM.exec(each.path), each.message]).filter(([at]) => at && draft[at[1]]);
      setProblems(found.map(([at, message]) => ({ key: draft[at[1]].key, path: at[2], message })));
      if (found.length) setEditing(draft[found[0][0][1]].key);
      throw error;
    }
  };
  const previewing = useAction(tried(async () => {
    const answer = await call("POST", `${path}/preview`, { body, query: { days }, ifMatch: base.version });
    setPreviewed({ data: answer.data, draft, days, base });
    setWasSaved(false);
    return answer;
  }));
  const saving = useAction(tried(async () => {
    sent.current = body.rules;
    try {
      return await call("PUT", path, { body, ifMatch: preview.version });
    } catch (error) {
      if (!error.isUndecided && error.status !== 412) sent.current = null;
      throw error;
    }
  }), (answer) => answer && saved(answer));
  useEffect(() => {
    if (version > Math.max(base.version, theirs?.version ?? 0)) compare({ rules, version });
  }, [version]);
  const isBusy = previewing.busy || saving.busy;
  useHeld(holder, isBusy);

  const change = (key, values) => {
    setDraft(draft.map((rule) => (rule.key === key ? { ...rule, ...values } : rule)));
    if (problems.some((each) => each.key === key)) setProblems(problems.filter((each) => each.key !== key || (each.path && !(each.path in values))));
  };
  const remove = (key) => {
    setDraft(draft.filter((rule) => rule.key !== key));
    setEditing(null);
  };
  const add = () => {
    const [rule] = keyed([{ connector_id: draft.at(-1)?.connector_id ?? "", tool_pattern: "", stance: "ask" }]);
    setDraft([...draft, rule]);
    setEditing(rule.key);
  };
  const take = ({ connector_id, tool_pattern, suggestion }) =>
    setDraft(draft.map((rule) => (rule.connector_id === connector_id && rule.tool_pattern === tool_pattern ? { ...rule, tool_pattern: suggestion } : rule)));
  const show = (event) => {
    event.preventDefault();
    setProblems(NONE);
    saving.forget();
    previewing.run();
  };
  const error = previewing.error ?? saving.error;
  return html`<form class="editor" ref=${form} onSubmit=${show} aria-label="Rules">
    <p class="meta">These are all rules of the agent at version ${base.version}; their order means nothing. Nothing changes before you save.</p>
    <div ref=${holder}><${RuleTable} draft=${draft} isNew=${(rule) => !before.has(textOf(rule))} editing=${editing} problems=${isBusy ? NONE : problems} connectors=${connectors} names=${names}
      change=${change} remove=${remove} edit=${setEditing} add=${add} mayAdd=${draft.length < RULES_MAX} />
    ${emptied.length > 0 && draft.length > 0 && html`<p class="warning">A batch leaves connectors alone that it doesn't name. To remove the last rule of ${emptied.map((id) => html`<${Named} kind="connectors" id=${id} plain=${true} /> `)}, use Remove these rules above.</p>`}
    ${draft.length === 0 && html`<p class="warning">Without rules, every tool of this agent is denied.</p>`}
    ${theirs && html`<${Conflict} base=${base.rules} theirs=${theirs} draft=${draft} keep=${keep} drop=${() => saved({ message: "your draft was dropped" })} />`}
    ${hasGateway && html`<${Field} label="Compare recorded calls of the past" value=${days} onValue=${setDays} choices=${DAYS} any=${null} />`}</div>
    <p class="buttons">
      <button type="submit" disabled=${isBusy}>${previewing.busy ? "Working …" : "Preview"}</button>
      ${preview && html`<button type="button" disabled=${isBusy} onClick=${() => saving.run()}>${saving.busy ? "Saving …" : "Save these rules"}</button>`}
    </p>
    ${wasSaved && html`<p class="warning" role="status">What you saved before is saved, as version ${base.version}, though its answer was lost. Preview what you have changed since then.</p>`}
    <${Outcome} action=${{ error: unseen(error, problems, draft, editing) }} />
    ${preview && html`<${Preview} preview=${preview} take=${take} />`}
  </form>`;
}

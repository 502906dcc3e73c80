// One approval: what is asked, and deciding on it.
import { FormDialog, useAction } from "../app/actions.js";
import { asWritten, call, get } from "../app/api.js";
import { FOR_DECIDERS, STATE_MEANS, State, Until, isOpen, useMayDecide } from "../app/approvals.js";
import { ToolName } from "../app/calls.js";
import { seesEverything, useMe } from "../app/me.js";
import { Named } from "../app/names.js";
import { Facts, Failure, Field, NotOffered, Page, Reading } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { Time, ago } from "../app/time.js";
import { html, useEffect, useRef, useState } from "../app/ui.js";
import { Visible, asText } from "../app/visible.js";

const REASON_MAX = 500;
const SEARCHED = 100;
const PERIODS = [
  { value: "900", label: "15 minutes" },
  { value: "3600", label: "1 hour" },
  { value: "28800", label: "8 hours" },
  { value: "86400", label: "a day" },
];

const pathOf = (approval) => `/api/mcp/agents/${approval.agent_id}/approvals/${approval.id}`;

const What = ({ approval }) => html`<p><${ToolName} name=${approval.tool} /> of <${Named} kind="connectors" id=${approval.connector_id} plain=${true} />, by <${Named} kind="agents" id=${approval.agent_id} plain=${true} /></p>`;

// The answer to a decision on what isn't as it was seen any more.
const OUTDATED = [409, 412];

function Decide({ approval, verb, label, title, after, late, periods = false, children }) {
  const [reason, setReason] = useState("");
  const [period, setPeriod] = useState(PERIODS[0].value);
  const body = { reason: reason.trim() || null, ...(periods ? { valid_for_s: Number(period) } : {}) };
  const perform = () => call("POST", `${pathOf(approval)}/${verb}`, { body, ifMatch: approval.version }).catch((error) => {
    if (OUTDATED.includes(error.status)) late(approval);
    throw error;
  });
  return html`<${FormDialog} label=${label} title=${title} announces=${false} after=${after} perform=${perform}>
    <${What} approval=${approval} />
    ${children}
    ${periods && html`<${Field} label="The call may be made within" name="valid_for_s" value=${period} onValue=${setPeriod} choices=${PERIODS} any=${null} />`}
    <${Field} label="Reason (optional)" name="reason" value=${reason} onValue=${setReason} lines=${2} maxlength=${REASON_MAX} help="The record keeps it; the agent is told why a call was refused." />
  <//>`;
}

function Decisions({ approval, read, after, late }) {
  const each = { approval, after, late };
  const pending = approval.state === "pending";
  return html`<p class="buttons">
    ${pending && html`<${Decide} ...${each} verb="approve" label="Approve" title="Approve this call, once?" periods=${true}>
      ${!read && html`<p class="warning">You have not looked at its arguments.</p>`}<//>
    <${Decide} ...${each} verb="refuse" label="Refuse" title="Refuse this call?"><p>The agent is told so until the question would have expired.</p><//>`}
    <${Decide} ...${each} verb="withdraw" label=${pending ? "Withdraw the question" : "Withdraw the approval"} title=${pending ? "Withdraw the question?" : "Withdraw the approval?"}><p>The agent is told so, and can't make the call.</p><//>
  </p>`;
}

// Opened by hand, as each look is an entry of the audit trail.
function Arguments({ approval, shown, setShown }) {
  const opening = useAction(() => get(pathOf(approval), undefined, { reviver: asWritten }), (answer) => setShown({ value: answer.data.arguments }));
  if (!shown) {
    return html`<p>Looking at them is recorded.</p><p class="buttons"><button type="button" class="quiet" disabled=${opening.busy} onClick=${() => opening.run()}>${opening.busy ? "Working …" : "Show the arguments"}</button></p>
      <${Failure} error=${opening.error} />`;
  }
  if (shown.value === null) return html`<p role="status">They were destroyed, or the key of their user was.</p>`;
  return html`<pre tabindex="0" aria-label="Arguments"><${Visible} text=${asText(shown.value)} /></pre>`;
}

function factsOf(approval, everything) {
  return [
    ["State", html`<${State} state=${approval.state} />`],
    ["Agent", html`<${Named} kind="agents" id=${approval.agent_id} />`],
    ["Tool", html`<${ToolName} name=${approval.tool} /> of <${Named} kind="connectors" id=${approval.connector_id} />`],
    ["For", approval.user_id ? html`<${Named} kind="users" id=${approval.user_id} />` : "nobody in particular"],
    ["Asked", html`<${Time} at=${approval.requested_at} />`],
    [isOpen(approval) ? "Until" : "It was until", html`<${Until} approval=${approval} />`],
    ["Decided by", approval.decided_by ? html`<${Named} kind="users" id=${approval.decided_by} />, <${Time} at=${approval.decided_at} />` : undefined],
    ["Reason", approval.reason ? html`<${Visible} text=${approval.reason} />` : undefined],
    ["Call", approval.call_id ? html`<a href=${link(["calls", approval.call_id])}>the call that used it</a>` : undefined],
    ["Definition", html`<code class="hash">${approval.definition.slice(0, 12)}…</code> (<a href=${link(["definitions", approval.connector_id])}>definitions</a>)`],
    ["What else this agent did", html`<a href=${link("calls", { agent_id: approval.agent_id })}>its calls</a>`],
    ["History", everything ? html`<a href=${link("audit", { kind: "approvals" })}>approvals in the audit trail</a>` : undefined],
  ];
}

function Asked({ approval, changed, late }) {
  const may = useMayDecide([approval])(approval);
  const everything = seesEverything(useMe());
  const [shown, setShown] = useState(null);
  return html`<${Facts} facts=${factsOf(approval, everything)} />
    <p>${STATE_MEANS[approval.state]}</p>
    <h2>Arguments</h2>
    ${!isOpen(approval) ? html`<p class="none">They are destroyed once the question is closed.</p>` : may ? html`<${Arguments} key=${approval.id} approval=${approval} shown=${shown} setShown=${setShown} />` : null}
    ${may && isOpen(approval) && html`<h2>Decide</h2><${Decisions} key=${approval.version} approval=${approval} read=${shown !== null} after=${changed} late=${late} />`}
    ${may === false && isOpen(approval) && html`<${NotOffered} what="The arguments, and deciding" reason=${FOR_DECIDERS} />`}`;
}

const AGAIN_MS = 500;
const FOLLOWED_MS = 10_000;
const DID = { approved: "approved", refused: "refused", withdrawn: "withdrew" };

function Before({ approval: { state, decided_by: by, decided_at: at } }) {
  if (!by || !DID[state]) return `Nothing was changed. ${STATE_MEANS[state]}`;
  return html`Nothing was changed: <${Named} kind="users" id=${by} plain=${true} /> ${DID[state]} it before you, ${ago(Date.now() - Date.parse(at))}.`;
}

// What came of a decision; `seen` is the approval as it was decided on in vain.
function Said({ text, seen, approval }) {
  const line = useRef(null);
  const isLate = seen && approval && (approval.version !== seen.version || approval.state !== seen.state);
  const isSaid = Boolean(text || isLate);
  // The button that had the focus goes; the dialog gives it back to that one first.
  useEffect(() => {
    if (isSaid) setTimeout(() => line.current?.focus());
  }, [isSaid, text]);
  return html`<p role="status" tabindex="-1" ref=${line} class=${isLate ? "warning" : text ? "done" : "hidden"}>${isLate ? html`<${Before} approval=${approval} />` : text && `✓ ${text}`}</p>`;
}

export default function Approval({ rest: [agent, id] }) {
  const [said, setSaid] = useState({});
  const read = useRead("/api/mcp/approvals", { agent_id: agent, limit: SEARCHED });
  const approval = read.data?.approvals.find((each) => each.id === id);
  const changed = (answer) => {
    setSaid({ text: answer.message });
    read.refresh();
  };
  const late = (seen) => {
    setSaid({ seen, at: Date.now() });
    read.refresh();
  };
  // The list may be behind what the refusal knew: it is read again, for a while.
  const isBehind = said.seen && approval?.version === said.seen.version && approval.state === said.seen.state;
  useEffect(() => {
    if (!isBehind || Date.now() - said.at > FOLLOWED_MS) return undefined;
    const timer = setTimeout(read.refresh, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isBehind, read.readAt]);
  return html`<${Page} title="Approval" lead=${html`<code>${id}</code>`}>
    <p><a href=${link("approvals")}>All approvals</a></p>
    <${Said} ...${said} approval=${approval} />
    <${Reading} read=${read} what="Reading the approval">${() => (approval
      ? html`<${Asked} approval=${approval} changed=${changed} late=${late} />`
      : html`<p class="empty">It isn't among the last ${SEARCHED} approvals of this agent that you may see.</p>`)}<//>
  <//>`;
}

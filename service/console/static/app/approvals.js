// What a person is asked to approve: its states, and who may decide.
import { isSuperuser, useMe } from "./me.js";
import { rowsOf } from "./names.js";
import { Badge } from "./parts.js";
import { useSignIns } from "./reads.js";
import { Time, left } from "./time.js";
import { html, useEffect, useState } from "./ui.js";

const STATES = {
  pending: ["ask", "? pending"],
  approved: ["allow", "✓ approved"],
  used: ["plain", "● used"],
  refused: ["deny", "✕ refused"],
  withdrawn: ["plain", "– withdrawn"],
  expired: ["plain", "– expired"],
};
export const STATE_CHOICES = Object.entries(STATES).map(([value, [, label]]) => ({ value, label: label.slice(2) }));
export const FOR_DECIDERS = "for managers of the agent, the connector's owner and superusers";

export const STATE_MEANS = {
  pending: "The agent's call waits for a person.",
  approved: "The agent may make this call, once, until then.",
  used: "The agent has made the call.",
  refused: "A person refused the call; the agent was told so.",
  withdrawn: "A person took the approval, or the question, back.",
  expired: "Nobody approved it, or the agent didn't make the call, in time. The next call asks anew.",
};

export const isOpen = (approval) => approval.state === "pending" || approval.state === "approved";

export function State({ state }) {
  const [kind, label] = STATES[state] ?? ["plain", state];
  return html`<${Badge} kind=${kind}>${label}<//>`;
}

export const Until = ({ approval }) =>
  html`<${Time} at=${approval.expires_at} />${isOpen(approval) && ` (${left(approval.expires_at)})`}`;

// Return whether the person who is signed in may decide on one of these approvals, as a
// function; it returns undefined until that is known.
export function useMayDecide(approvals) {
  const me = useMe();
  const [seen, setSeen] = useState(null);
  const signIns = useSignIns();
  const [agentIds, connectorIds] = ["agent_id", "connector_id"].map((name) => [...new Set(approvals.map((each) => each[name]))].sort());
  const key = [...agentIds, ...connectorIds].join();
  useEffect(() => {
    if (isSuperuser(me)) return undefined;
    let current = true;
    Promise.all([rowsOf("agents", agentIds), rowsOf("connectors", connectorIds)]).then(([agents, connectors]) => {
      if (!current) return;
      const managed = agents.filter((each) => each.manager_ids.includes(me.id));
      const owned = connectors.filter((each) => each.owner_id === me.id);
      setSeen({ key, ids: new Set([...managed, ...owned].map((each) => each.id)) });
    });
    return () => {
      current = false;
    };
  }, [me.id, key, signIns]);
  return (approval) => isSuperuser(me) || (seen?.key === key ? seen.ids.has(approval.agent_id) || seen.ids.has(approval.connector_id) : undefined);
}

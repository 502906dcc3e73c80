// Names of agents, connectors and users, for ids in tables: read once, kept for a while.
import { get } from "./api.js";
import { LISTED_MAX, readAll, useSignIns } from "./reads.js";
import { link } from "./route.js";
import { html, useEffect, useState } from "./ui.js";
import { isolated } from "./parts.js";

const LISTS = {
  agents: "/api/catalog/agents",
  connectors: "/api/mcp/connectors",
  users: "/api/users",
};
const KEPT_MS = 60_000;
const kept = new Map();

export function forgetNames() {
  kept.clear();
}

let hidden = [];

// Don't ask for lists that the caller may not read.
export function namesFor(all) {
  hidden = all ? [] : ["users"];
  forgetNames();
}

function listOf(kind) {
  const before = kept.get(kind);
  if (before && Date.now() - before.at < KEPT_MS) return before;
  const list = { at: Date.now(), now: before?.now ?? [], byId: before?.byId ?? new Map(), isRead: false, behind: new Map() };
  list.rows = readAll(LISTS[kind], kind).then((rows) => {
    list.now = rows;
    list.byId = new Map(rows.map((row) => [row.id, row]));
    list.isRead = true;
  }, () => {
    // The next who wants it reads it again.
    list.at = 0;
  }).then(() => list.now);
  kept.set(kind, list);
  return list;
}

// Return a list as the caller may see it; an empty one if they may not.
export async function listed(kind) {
  return hidden.includes(kind) ? [] : listOf(kind).rows;
}

// Return the rows of a list, and those of these ids, which it may end before.
export async function rowsOf(kind, ids) {
  if (hidden.includes(kind)) return [];
  const list = listOf(kind);
  const rows = await list.rows;
  if (rows.length < LISTED_MAX) return rows;
  const { byId, behind } = list;
  const rowOf = (id) => {
    if (!behind.has(id)) behind.set(id, get(`${LISTS[kind]}/${id}`).then(({ data }) => data, () => null));
    return behind.get(id);
  };
  const found = await Promise.all(ids.filter((id) => !rows.some((row) => row.id === id)).map(rowOf));
  for (const row of found.filter(Boolean)) byId.set(row.id, row);
  return [...rows, ...found.filter(Boolean)];
}

export function useList(kind) {
  const [rows, setRows] = useState(() => kept.get(kind)?.now ?? []);
  const signIns = useSignIns();
  useEffect(() => {
    let current = true;
    // The same rows again change nothing.
    listed(kind).then((found) => current && setRows(found));
    return () => {
      current = false;
    };
  }, [kind, signIns]);
  return rows;
}

// Whether there is nothing to wait for: a name that is known is shown while the list is
// read again.
function isKnown(kind, id) {
  if (hidden.includes(kind)) return true;
  const { isRead, byId, now } = listOf(kind);
  return byId.has(id) || (isRead && now.length < LISTED_MAX);
}

function nameOf({ kind, id, plain }) {
  const name = kept.get(kind)?.byId.get(id)?.name;
  const text = name ? isolated(name) : html`<code title=${id}>${id.slice(0, 8)}…</code>`;
  return plain ? text : html`<a href=${link([kind, id])} title=${id}>${text}</a>`;
}

function Awaited(thing) {
  const [, setRows] = useState(null);
  const signIns = useSignIns();
  useEffect(() => {
    let current = true;
    rowsOf(thing.kind, [thing.id]).then((rows) => current && setRows(rows));
    return () => {
      current = false;
    };
  }, [thing.kind, thing.id, signIns]);
  return nameOf(thing);
}

// A thing by its name, as a link, or by the beginning of its id. Only names that aren't
// read yet take a component with a state: a table has hundreds.
export function Named({ kind, id, plain = false }) {
  if (!id) return html`<span class="none">–</span>`;
  return isKnown(kind, id) ? nameOf({ kind, id, plain }) : html`<${Awaited} kind=${kind} id=${id} plain=${plain} />`;
}

Named.isPlain = true;

// Columns of tables.
export const OF_AGENT = { label: "Agent", cell: (row) => html`<${Named} kind="agents" id=${row.agent_id} />` };
export const OF_CONNECTOR = { label: "Connector", cell: (row) => html`<${Named} kind="connectors" id=${row.connector_id} />` };

export const options = (rows) =>
  rows
    .map((row) => ({ value: row.id, label: row.name ?? row.id }))
    .sort((one, other) => one.label.localeCompare(other.label));

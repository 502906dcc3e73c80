// The sentences of the audit trail, in which every id leads to its own history.
import { link } from "./route.js";
import { html } from "./ui.js";

const ID = /\(([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\)/;

const history = (id) => html`<a class="id" href=${link("audit", { resource: id })} title=${`all entries about ${id}`}>${id.slice(0, 8)}…</a>`;

export function Actor({ entry }) {
  const name = entry.actor ?? entry.actor_id ?? "unknown";
  if (!entry.actor_id) return html`<strong><bdi>${name}</bdi></strong>`;
  return html`<strong><a href=${link("audit", { actor: entry.actor_id })} title=${`all entries by ${entry.actor_id}`}><bdi>${name}</bdi></a></strong>`;
}

// Who did what.
export function Sentence({ entry }) {
  // Every second part is the id in parentheses.
  const parts = entry.what.split(ID).map((part, index) => (index % 2 ? html`(${history(part)})` : html`<bdi>${part}</bdi>`));
  return html`<span class="sentence"><${Actor} entry=${entry} /> ${parts}</span>`;
}

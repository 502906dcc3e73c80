// What an id or a position is.
import { get } from "../app/api.js";
import { Page } from "../app/parts.js";
import { link } from "../app/route.js";
import { has, seesEverything, useMe } from "../app/me.js";
import { html, useEffect, useState } from "../app/ui.js";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function placesOf(text, all, hasGateway) {
  const id = encodeURIComponent(text);
  if (/^\d{1,18}$/.test(text)) return all ? [{ label: "Entry of the audit trail", page: ["audit", text], path: `/api/audit/events/${id}` }] : [];
  const places = [{ label: "Session", page: ["sessions", text], path: `/api/observability/session/${id}?limit=1` }];
  if (UUID.test(text)) {
    places.push(
      { label: "Agent", page: ["agents", text], path: `/api/catalog/agents/${id}` },
      { label: "Connector", page: ["connectors", text], path: `/api/mcp/connectors/${id}` },
      hasGateway && { label: "Tool call", page: ["calls", text], path: `/api/mcp/calls/${id}` },
      { label: "User", page: ["users", text], path: `/api/users/${id}` },
    );
  }
  return places.filter(Boolean);
}

export default function Find({ id }) {
  const me = useMe();
  const all = seesEverything(me);
  const [found, setFound] = useState(null);
  useEffect(() => {
    Promise.all(placesOf(id, all, has(me, "gateway")).map((place) => get(place.path).then(() => place, () => null))).then((places) => setFound(places.filter(Boolean)));
  }, [id]);
  return html`<${Page} title="Find" lead=${html`<code>${id}</code>`}>
    ${found === null ? html`<p class="working" role="status">Looking …</p>`
      : found.length === 0 ? html`<p class="empty">Nothing that you can see has this id. Ids are complete, as pages show and copy them.</p>`
      : html`<ul class="plain" role="list">${found.map((place) => html`<li><a href=${link(place.page)}>${place.label}</a></li>`)}</ul>`}
    ${all && UUID.test(id) && html`<p><a href=${link("audit", { resource: id })}>Entries of the audit trail about it</a></p>`}
  <//>`;
}

// The address after "#": a page's path, and a query with its filters and time zone.
// The server never sees it, so neither filters nor sign-in codes are in its log.
import { createContext, useEffect, useState } from "./ui.js";
import { mayLeave } from "./unsaved.js";

// A table asks hundreds of times, and reading the address each time is slow.
let route = null;

function reread() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  route = {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query ?? "")),
  };
  return route;
}

// Another page, only if what was typed on this one may get lost; the first to be told.
addEventListener("hashchange", (event) => {
  const before = route;
  const isOther = reread().path.join("/") !== before?.path.join("/");
  if (!before || !isOther || mayLeave()) return;
  history.pushState(null, "", event.oldURL);
  route = before;
  event.stopImmediatePropagation();
});

export const currentRoute = () => route ?? reread();

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function useRoute() {
  const [shown, setRoute] = useState(reread);
  useEffect(() => {
    const changed = () => setRoute(currentRoute());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return shown;
}

// The route that a page is shown for; while another page is read, the address is that one's.
export const PageRoute = createContext(null);

// Make an address; the time zone goes along with every link.
export function link(path, query) {
  const parts = [path].flat().map(encodeURIComponent).join("/");
  const { tz } = currentRoute().query;
  if (!tz && !query) return `#/${parts}`;
  const kept = { tz, ...query };
  const given = Object.entries(kept).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(given).toString();
  return `#/${parts}${text ? `?${text}` : ""}`;
}

export function go(path, query) {
  location.hash = link(path, query);
}

// Change the page's query; an empty value removes its name.
export function setQuery(changes) {
  const { path, query } = currentRoute();
  location.hash = link(path, { ...query, ...changes });
}

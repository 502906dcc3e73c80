// The pages of the console: their path, module, and name in the navigation. Pages
// without a name are reached from others; `auditors` marks those of the whole history,
// and `needs` names the capability without which there is no such page. The first comment
// of a page's module says for docs/console.md what it shows and does.

export const PAGES = [
  { path: "overview", module: "overview", label: "Overview" },
  { path: "approvals", module: "approvals", one: "approval", label: "Approvals", needs: "gateway" },
  { path: "calls", module: "calls", one: "call", label: "Calls", needs: "gateway" },
  { path: "sessions", module: "sessions", one: "session", label: "Sessions" },
  { path: "usage", module: "usage", label: "Usage" },
  { path: "agents", module: "agents", one: "agent", label: "Agents" },
  { path: "connectors", module: "connectors", one: "connector", label: "Connectors" },
  { path: "explain", module: "explain", label: "Explain" },
  { path: "secrets", module: "secrets", one: "secret", label: "Secrets" },
  { path: "prices", module: "prices", one: "price", label: "Models and prices" },
  { path: "audit", module: "audit", one: "entry", label: "Audit trail", auditors: true },
  { path: "verify", module: "verify", label: "Verify", needs: "proofs" },
  { path: "users", module: "users", one: "user", label: "Users", auditors: true },
  { path: "operation", module: "operation", label: "Operation" },
  { path: "definitions", module: "definitions", needs: "gateway" },
  { path: "find", module: "find", one: "find" },
];

// Return the page of a path as { path, module }; undefined if there is none.
export function pageOf([name = "overview", ...rest]) {
  const page = PAGES.find((each) => each.path === name);
  if (!page) return undefined;
  return { ...page, module: rest.length > 0 && page.one ? page.one : page.module };
}

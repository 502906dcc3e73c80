// Numbers as text; money with every digit that the service gave.

const share = new Intl.NumberFormat("en", { style: "percent", maximumSignificantDigits: 2 });
const whole = new Intl.NumberFormat("en");

export const number = (value) => (value === null || value === undefined ? "–" : whole.format(Number(value)));

// What isn't all of it is never rounded up to all of it.
export const percent = (value) => (value < 1 && share.format(value) === share.format(1) ? "over 99%" : share.format(value));

// Round what is large; keep at least two digits that count of what is small.
export function money(value, currency = "USD") {
  if (value === null || value === undefined) return "unknown";
  const amount = Number(value);
  const digits = amount !== 0 && Math.abs(amount) < 1 ? 2 - Math.floor(Math.log10(Math.abs(amount))) - 1 : 2;
  return `${amount.toFixed(Math.min(12, Math.max(2, digits)))} ${currency ?? ""}`.trim();
}

// As the service gave it, with every digit.
export const exactMoney = (value, currency = "USD") =>
  value === null || value === undefined ? "unknown" : `${value} ${currency ?? ""}`.trim();

// Amounts of several currencies, each { cost, currency }; they are never added up.
export const costs = (each, shown = exactMoney) => each.map(({ cost, currency }) => shown(cost, currency)).join(" + ") || "unknown";

// What is known of a group's tokens, `prompt`, `completion` or `total`, and that a part
// isn't. Without a model call, which has a cost or a reason why not, there are none.
export function knownTokens({ token_usage: all, known_token_usage: known, known_costs: priced, unpriced }, name) {
  const hasCall = priced.length > 0 || unpriced.length > 0;
  if (known[name] === null) return hasCall ? "unknown" : "–";
  return all[name] === null ? `${number(known[name])} + unknown` : number(known[name]);
}

// Add up the rows' costs in each currency; rows without a cost count for none.
export function sumsOf(rows) {
  const sums = new Map();
  for (const { cost, currency } of rows) {
    if (cost !== null) sums.set(currency, (sums.get(currency) ?? 0) + Number(cost));
  }
  return [...sums].sort().map(([currency, cost]) => ({ currency, cost }));
}

export const short = (id) => (id ? `${String(id).slice(0, 8)}…` : "–");
export const plural = (count, one, many = `${one}s`) => `${whole.format(count)} ${count === 1 ? one : many}`;

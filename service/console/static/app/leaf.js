// The leaf of an entry, computed from the entry as recorded. docs/audit.md has the encoding.
import { fromBase64, joined, leafHash } from "./merkle.js";

const ENCODING = 1;

function integer(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value));
  return bytes;
}

function uuid(text) {
  const digits = text.replaceAll("-", "");
  if (!/^[0-9a-f]{32}$/i.test(digits)) throw new Error("the entry has a malformed id");
  return Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
}

// JavaScript's own times have no microseconds.
function microseconds(text) {
  const [, seconds, fraction = "", zone] = /^([^.+Z]+)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  if (!seconds) throw new Error("the entry has a malformed time");
  return BigInt(Date.parse(`${seconds}${zone}`)) * 1000n + BigInt(fraction.padEnd(6, "0"));
}

const sized = (bytes) => joined(integer(bytes.length), bytes);

// Return the leaf's 32 bytes; throws an Error if the entry isn't one as recorded.
export async function leafOf(entry) {
  const text = (value) => {
    if (typeof value !== "string") throw new Error("the entry isn't complete: take it as recorded");
    return new TextEncoder().encode(value);
  };
  if ("state" in entry && "state_base64" in entry) throw new Error("the entry has two states");
  const state = entry.state_base64 === undefined ? text(entry.state) : fromBase64(entry.state_base64);
  return leafHash(
    joined(
      Uint8Array.of(ENCODING),
      integer(entry.position),
      uuid(entry.aggregate_id),
      integer(entry.version),
      integer(microseconds(entry.recorded_at)),
      uuid(entry.command_id),
      sized(text(entry.topic)),
      sized(text(entry.metadata)),
      sized(state),
    ),
  );
}

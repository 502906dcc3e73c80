// Checkpoints and Merkle proofs (C2SP signed notes, RFC 6962 and 9162), recomputed with
// the browser's own cryptography: nothing here believes the service.

const ED25519 = 1;
const KEY_ID_BYTES = 4;
const HASH_BYTES = 32;

export class ProofError extends Error {}

const utf8 = (text) => new TextEncoder().encode(text);
export const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
export const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes));

export function fromBase64(text) {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new ProofError("a part that should be base64 is not");
  }
}

const joined = (...parts) => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", joined(...parts)));
const nodeHash = (left, right) => sha256(Uint8Array.of(1), left, right);
export const same = (one, other) => one.length === other.length && one.every((byte, index) => byte === other[index]);

// Read "name+id+key", and check that its id is that of its key.
export async function parseKey(text) {
  const match = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim());
  if (!match) throw new ProofError("a public key is written as name+id+key");
  const [, name, id, encoded] = match;
  const key = fromBase64(encoded);
  if (key.length !== HASH_BYTES + 1 || key[0] !== ED25519) throw new ProofError("the public key is not one of Ed25519");
  const digest = await sha256(utf8(`${name}\n`), key);
  if (hex(digest.slice(0, KEY_ID_BYTES)) !== id) throw new ProofError("the public key's id is that of another key");
  return { name, id, public: key.slice(1), fingerprint: hex(await sha256(key.slice(1))) };
}

// Read a checkpoint that the key has signed; throws ProofError if it hasn't.
export async function openCheckpoint(note, key) {
  const text = note.replaceAll("\r\n", "\n").replace(/\n*$/, "\n");
  const end = text.lastIndexOf("\n\n");
  if (end < 0) throw new ProofError("the checkpoint has no signature");
  const signed = text.slice(0, end + 1);
  for (const line of text.slice(end + 2).trimEnd().split("\n")) {
    const match = /^— ([^\s+]+) (\S+)$/.exec(line);
    if (!match) throw new ProofError("a signature of the checkpoint is malformed");
    const signature = fromBase64(match[2]);
    if (match[1] !== key.name || hex(signature.slice(0, KEY_ID_BYTES)) !== key.id) continue;
    const imported = await crypto.subtle.importKey("raw", key.public, { name: "Ed25519" }, false, ["verify"]);
    const valid = await crypto.subtle.verify("Ed25519", imported, signature.slice(KEY_ID_BYTES), utf8(signed));
    if (!valid) throw new ProofError("the checkpoint's signature is not valid");
    return parseCheckpoint(signed, key);
  }
  throw new ProofError("this key has not signed the checkpoint");
}

function parseCheckpoint(signed, key) {
  const [origin, size, root] = signed.split("\n");
  if (origin !== key.name) throw new ProofError("the checkpoint is of another log than its key");
  if (!/^\d{1,15}$/.test(size)) throw new ProofError("the checkpoint has no size");
  const hash = fromBase64(root ?? "");
  if (hash.length !== HASH_BYTES) throw new ProofError("the checkpoint has no root hash");
  return { origin, size: Number(size), root: hash };
}

const integer = (value) => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value));
  return bytes;
};

const uuid = (text) => {
  const digits = String(text).replaceAll("-", "");
  if (!/^[0-9a-f]{32}$/.test(digits)) throw new ProofError("an id of the entry is malformed");
  return Uint8Array.from(digits.match(/../g), (pair) => Number.parseInt(pair, 16));
};

// Microseconds since 1970; Date has milliseconds only.
function microseconds(text) {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(text);
  if (!match) throw new ProofError("the entry's time is malformed");
  return BigInt(Date.parse(`${match[1]}Z`)) * 1000n + BigInt((match[2] ?? "").padEnd(6, "0"));
}

const counted = (bytes) => joined(integer(bytes.length), bytes);

// The leaf of an entry: the hash of every column of the log, in one encoding.
export function leafOf(recorded) {
  const state = "state" in recorded ? utf8(recorded.state) : fromBase64(recorded.state_base64);
  return sha256(
    Uint8Array.of(0), Uint8Array.of(1),
    integer(recorded.position), uuid(recorded.aggregate_id), integer(recorded.version),
    integer(microseconds(recorded.recorded_at)), uuid(recorded.command_id),
    counted(utf8(recorded.topic)), counted(utf8(recorded.metadata)), counted(state),
  );
}

// The next node upwards: numbers may exceed 32 bits, so no bit operations.
const half = (number) => Math.floor(number / 2);
const odd = (number) => number % 2 === 1;

// The root that an inclusion proof leads to, with each step; RFC 9162, 2.1.3.2.
export async function rootByInclusion(leaf, index, size, path) {
  if (!(index >= 0 && index < size)) throw new ProofError(`position ${index + 1} isn't in a tree of ${size}`);
  let [number, last, hash] = [index, size - 1, leaf];
  const steps = [];
  for (const sibling of path) {
    if (last === 0) throw new ProofError("the proof is too long");
    if (odd(number) || number === last) {
      hash = await nodeHash(sibling, hash);
      while (!odd(number) && number) [number, last] = [half(number), half(last)];
    } else {
      hash = await nodeHash(hash, sibling);
    }
    steps.push({ sibling, hash });
    [number, last] = [half(number), half(last)];
  }
  if (last !== 0) throw new ProofError("the proof is too short");
  return { root: hash, steps };
}

// Both roots that a consistency proof leads to; RFC 9162, 2.1.4.2.
export async function rootsByConsistency(firstRoot, first, second, path) {
  if (!(first > 0 && first <= second)) throw new ProofError("the kept checkpoint is of a longer log than this one");
  if (first === second) return { first: firstRoot, second: firstRoot, steps: [] };
  const whole = Number.isInteger(Math.log2(first)) ? [firstRoot, ...path] : [...path];
  if (whole.length === 0) throw new ProofError("the proof is too short");
  let [number, last] = [first - 1, second - 1];
  while (odd(number)) [number, last] = [half(number), half(last)];
  let [before, after] = [whole[0], whole[0]];
  const steps = [];
  for (const node of whole.slice(1)) {
    if (last === 0) throw new ProofError("the proof is too long");
    if (odd(number) || number === last) {
      [before, after] = [await nodeHash(node, before), await nodeHash(node, after)];
      while (!odd(number) && number) [number, last] = [half(number), half(last)];
    } else {
      after = await nodeHash(after, node);
    }
    steps.push({ sibling: node, hash: after });
    [number, last] = [half(number), half(last)];
  }
  if (last !== 0) throw new ProofError("the proof is too short");
  return { first: before, second: after, steps };
}

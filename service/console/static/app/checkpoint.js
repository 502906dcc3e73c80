// Checkpoints as text: signed notes of C2SP (c2sp.org/signed-note, tlog-checkpoint).
import { fromBase64, joined, same, sha256 } from "./merkle.js";

const HEAD = /^([^\n]+)\n(0|[1-9][0-9]{0,18})\n([^\n]+)\n(?:[^\n]+\n)*$/;
const SIGNATURE = /^— ([^\s+]+) (\S+)$/;
const KEY = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/;
const ED25519 = 1;

const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const utf8 = (text) => new TextEncoder().encode(text);

function decoded(text) {
  try {
    return fromBase64(text);
  } catch {
    return new Uint8Array();
  }
}

// Return { origin, size, root, rootText, text, signatures }; throws an Error that says
// what is wrong. The size is a BigInt.
export function parseCheckpoint(note) {
  const end = note.lastIndexOf("\n\n");
  if (end < 0) throw new Error("a checkpoint has an empty line before its signature");
  const text = note.slice(0, end + 1);
  const head = HEAD.exec(text);
  if (!head) throw new Error("a checkpoint begins with three lines: the log's name, its size, and its root hash");
  const root = decoded(head[3]);
  if (root.length !== 32) throw new Error("the third line is not a root hash");
  const lines = note.slice(end + 2).replace(/\n$/, "").split("\n").map((line) => SIGNATURE.exec(line));
  if (lines.some((line) => line === null)) throw new Error("a line of the signature is malformed");
  const signatures = lines.map(([, name, signature]) => ({ name, bytes: decoded(signature) }));
  return { origin: head[1], size: BigInt(head[2]), root, rootText: head[3], text, signatures };
}

// Split a file of several checkpoints, and return that of the largest size.
export function newestCheckpoint(file) {
  const notes = [];
  let note = [];
  for (const line of file.replaceAll("\r\n", "\n").trim().split("\n")) {
    if (note.at(-1)?.startsWith("— ") && !line.startsWith("— ")) {
      notes.push(note);
      note = [];
    }
    if (note.length > 0 || line.trim()) note.push(line);
  }
  notes.push(note);
  const all = notes.map((lines) => parseCheckpoint(`${lines.join("\n")}\n`));
  const newest = all.reduce((one, other) => (other.size > one.size ? other : one));
  return { ...newest, among: all.length };
}

// Read a public key as `name+id+key`; throws an Error if its parts don't fit together.
export async function parseKey(text) {
  const parts = KEY.exec(text.trim());
  if (!parts) throw new Error("a public key is written as name+id+key");
  const [, name, id, encoded] = parts;
  const key = decoded(encoded);
  if (key.length !== 33 || key[0] !== ED25519) throw new Error("the public key is not one of Ed25519");
  const idBytes = (await sha256(joined(utf8(`${name}\n`), key))).slice(0, 4);
  if (hex(idBytes) !== id) throw new Error("the public key's id is that of another key");
  return { name, id: idBytes, bytes: key.slice(1) };
}

// Say whether the key has signed a checkpoint: "valid", "invalid", or "other key".
export async function checkSignature(checkpoint, key) {
  const own = checkpoint.signatures.filter(({ name, bytes }) => name === key.name && same(bytes.slice(0, 4), key.id));
  if (own.length === 0 || key.name !== checkpoint.origin) return "other key";
  const imported = await crypto.subtle.importKey("raw", key.bytes, { name: "Ed25519" }, false, ["verify"]);
  for (const { bytes } of own) {
    if (!(await crypto.subtle.verify("Ed25519", imported, bytes.slice(4), utf8(checkpoint.text)))) return "invalid";
  }
  return "valid";
}

// The Merkle tree of RFC 6962: proofs, checked step by step with Web Crypto.
// Sizes are BigInt, since logs may have more than 2^32 entries.

export const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes));

// Return the bytes of a base64 text; throws an Error if it isn't one.
export function fromBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

export function same(one, other) {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

export function joined(...parts) {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}

export const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
export const leafHash = (bytes) => sha256(joined(Uint8Array.of(0), bytes));
const nodeHash = (left, right) => sha256(joined(Uint8Array.of(1), left, right));

// Check an inclusion proof, RFC 9162 section 2.1.3.2. Returns { holds, root, steps },
// where a step is { side, sibling, result }.
export async function checkInclusion({ leaf, index, size, path, root }) {
  let [number, last, hash] = [BigInt(index), BigInt(size) - 1n, leaf];
  const steps = [];
  const outside = number < 0n || number > last;
  for (const sibling of path) {
    if (last === 0n) return { holds: false, root: hash, steps };
    const isRight = (number & 1n) === 1n || number === last;
    hash = isRight ? await nodeHash(sibling, hash) : await nodeHash(hash, sibling);
    if (isRight) {
      while ((number & 1n) === 0n && number !== 0n) [number, last] = [number >> 1n, last >> 1n];
    }
    [number, last] = [number >> 1n, last >> 1n];
    steps.push({ side: isRight ? "left" : "right", sibling, result: hash });
  }
  return { holds: !outside && last === 0n && same(hash, root), root: hash, steps };
}

// Check that the tree of the first size is the beginning of the second one, RFC 9162
// section 2.1.4.2. Returns { holds, firstRoot, secondRoot, steps }.
export async function checkConsistency({ first, second, path, firstRoot, secondRoot }) {
  const [from, to] = [BigInt(first), BigInt(second)];
  if (from < 1n || from > to) return { holds: false, steps: [] };
  if (from === to) {
    return { holds: path.length === 0 && same(firstRoot, secondRoot), firstRoot, secondRoot, steps: [] };
  }
  const whole = (from & (from - 1n)) === 0n ? [firstRoot, ...path] : [...path];
  if (whole.length === 0) return { holds: false, steps: [] };
  let [number, last] = [from - 1n, to - 1n];
  while ((number & 1n) === 1n) [number, last] = [number >> 1n, last >> 1n];
  let [before, after] = [whole[0], whole[0]];
  const steps = [];
  for (const sibling of whole.slice(1)) {
    if (last === 0n) return { holds: false, firstRoot: before, secondRoot: after, steps };
    const isLeft = (number & 1n) === 1n || number === last;
    if (isLeft) {
      before = await nodeHash(sibling, before);
      after = await nodeHash(sibling, after);
      while ((number & 1n) === 0n && number !== 0n) [number, last] = [number >> 1n, last >> 1n];
    } else {
      after = await nodeHash(after, sibling);
    }
    [number, last] = [number >> 1n, last >> 1n];
    steps.push({ side: isLeft ? "left, in both trees" : "right, in the later tree", sibling, result: after });
  }
  const holds = last === 0n && same(before, firstRoot) && same(after, secondRoot);
  return { holds, firstRoot: before, secondRoot: after, steps };
}

// What can be proved about the log with a checkpoint that somebody kept.
import { get } from "./api.js";
import { checkSignature, parseCheckpoint } from "./checkpoint.js";
import { leafOf } from "./leaf.js";
import { checkConsistency, checkInclusion, fromBase64, same, toBase64 } from "./merkle.js";

const CONSISTENCY = "/api/audit/proofs/consistency";
const INCLUSION = "/api/audit/proofs/inclusion";
const BEYOND = "beyond the tree";

const check = (name, state, text, steps = []) => ({ name, state, text, steps });
const isBeyond = (error) => error.status === 400 && error.errors.some(({ message }) => message === BEYOND);

async function signatureCheck(name, checkpoint, key) {
  if (!key) return check(name, "open", "not checked, since no public key was given");
  try {
    const found = await checkSignature(checkpoint, key);
    if (found === "other key") return check(name, "bad", "the given key has not signed it");
    return found === "valid" ? check(name, "good", "signed with the given key") : check(name, "bad", "the signature is not that of the given key");
  } catch {
    return check(name, "open", "not checked: this browser can't verify Ed25519 signatures");
  }
}

async function newestChecks(answer, checkpoint, key) {
  if (!answer.checkpoint) return [];
  const name = "Newest checkpoint";
  let newest;
  try {
    newest = parseCheckpoint(answer.checkpoint);
  } catch (error) {
    return [check(name, "bad", `it can't be read: ${error.message}`)];
  }
  const fits = newest.size === BigInt(answer.second_size) && same(newest.root, fromBase64(answer.second_root));
  if (!fits) return [check(name, "bad", "it is of another tree than the proof")];
  if (newest.origin !== checkpoint.origin) {
    return [check(name, "open", `the log has another epoch than your checkpoint, ${newest.origin}: it was restored since. An entry log.epoch_changed of the audit trail says why; ask the operator if there is none.`)];
  }
  return [await signatureCheck(`${name}, of ${newest.size} entries`, newest, key)];
}

async function consistencyChecks(checkpoint, key, ask) {
  const name = "Nothing was rewritten";
  let answer;
  try {
    answer = await ask(CONSISTENCY, { first: checkpoint.size });
  } catch (error) {
    if (error.code === "log_contradicted") return { checks: [check(name, "bad", error.message)] };
    if (isBeyond(error)) return { checks: [check(name, "bad", `the log is shorter than your checkpoint: ${error.message}`)] };
    throw error;
  }
  const [firstRoot, secondRoot] = [checkpoint.root, fromBase64(answer.second_root)];
  const found = await checkConsistency({ first: checkpoint.size, second: answer.second_size, path: answer.hashes.map(fromBase64), firstRoot, secondRoot });
  const newest = await newestChecks(answer, checkpoint, key);
  const checks = [
    found.holds
      ? check(name, "good", `the log of ${answer.second_size} entries begins with the ${checkpoint.size} entries of your checkpoint`, found.steps)
      : check(name, "bad", `the log of ${answer.second_size} entries doesn't begin with those of your checkpoint`, found.steps),
    ...newest,
  ];
  return { checks, isSigned: newest.some((each) => each.state === "good"), holds: found.holds, size: answer.second_size, root: secondRoot };
}

function contentCheck(leaf, shown, sentence) {
  const name = "Its content";
  if (!leaf) return check(name, "open", "not checked: only the entry's hash is proved. Verify from the entry's page, or paste it as recorded");
  const said = sentence ? `the entry says: ${sentence}. Its record` : "the record that you looked at";
  return same(leaf, shown) ? check(name, "good", `${said} is the one in the tree`) : check(name, "bad", `${said} is not the one in the tree`);
}

async function inclusionChecks(position, record, checkpoint, later, ask) {
  const name = `Entry ${position}`;
  const isCovered = BigInt(position) <= checkpoint.size;
  if (!isCovered && !later.holds) return [check(name, "open", "not checked: it is later than your checkpoint, and the log couldn't be compared with that")];
  const [size, root] = isCovered ? [checkpoint.size, checkpoint.root] : [later.size, later.root];
  let answer;
  try {
    answer = await ask(INCLUSION, { position, size });
  } catch (error) {
    if (error.code === "log_contradicted") return [check(name, "bad", error.message)];
    if (isBeyond(error)) return [check(name, "open", "no checkpoint covers this entry yet: try again in a few seconds")];
    throw error;
  }
  const shown = fromBase64(answer.leaf_hash);
  const { leaf, sentence } = await record();
  const found = await checkInclusion({ leaf: leaf ?? shown, index: position - 1, size, path: answer.hashes.map(fromBase64), root });
  const tree = isCovered ? "your checkpoint" : "the newest tree, which begins with that of your checkpoint";
  // A tree without a checked signature rests on the word of the service alone.
  const included = found.holds
    ? isCovered || later.isSigned
      ? check(name, "good", `it is in ${tree}`, found.steps)
      : check(name, "open", `it is in ${tree}; but it is later than your checkpoint, and no signature of that tree was checked`, found.steps)
    : check(name, "bad", `it is not in ${tree}`, found.steps);
  return [{ ...included, leaf: toBase64(leaf ?? shown) }, contentCheck(leaf, shown, sentence)];
}

// Read an entry, which is itself recorded. Returns { leaf, sentence }.
async function readRecord(position) {
  const { data } = await get(`/api/audit/events/${position}`);
  return { leaf: await leafOf(data.recorded), sentence: `${data.actor ?? data.actor_id} ${data.what}` };
}

// Ask for the proofs, at most two requests, and check them against a checkpoint; with
// `reads`, read the entry too, unless its leaf is given. Returns { checks, requests,
// proofs }; throws ApiError where the service gave no answer.
export async function verify({ checkpoint, key, position, leaf, reads }) {
  const requests = [];
  const proofs = [];
  const ask = async (path, query) => {
    requests.push({ path, query });
    const { data } = await get(path, query);
    proofs.push(data);
    return data;
  };
  const own = await signatureCheck(`Your checkpoint, of ${checkpoint.size} entries`, checkpoint, key);
  const later = await consistencyChecks(checkpoint, key, ask);
  const checks = [own, ...later.checks];
  const record = async () => (leaf || !reads ? { leaf } : readRecord(position));
  if (position) checks.push(...(await inclusionChecks(position, record, checkpoint, later, ask)));
  return { checks, requests, proofs };
}

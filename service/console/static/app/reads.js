// Reading from the API in a page, and what the page's frame shows of it.
import { get } from "./api.js";
import { createContext, useContext, useEffect, useLayoutEffect, useMemo, useState } from "./ui.js";

// The reads of the page that is shown, each { path, query, position, readAt, refresh }.
class Reads {
  #all = new Map();
  #listeners = new Set();
  #expected = 0;
  #answered = null;

  // Something is under way until this promise, which never fails, is done.
  expect(done) {
    this.#expected += 1;
    done.then(() => {
      this.#expected -= 1;
      if (this.#expected === 0) this.#answered?.();
    });
  }

  // Call `done` once nothing is under way, or after `ms`; return how to give that up.
  onceAnswered(done, ms) {
    const forget = () => {
      clearTimeout(timer);
      this.#answered = null;
    };
    this.#answered = () => {
      forget();
      done();
    };
    const timer = setTimeout(this.#answered, ms);
    if (this.#expected === 0) this.#answered();
    return forget;
  }

  report(key, read) {
    this.#all.set(key, read);
    this.#tell();
  }

  forget(key) {
    if (this.#all.delete(key)) this.#tell();
  }

  #tell() {
    for (const listener of this.#listeners) listener([...this.#all.values()]);
  }

  useAll() {
    const [reads, setReads] = useState([...this.#all.values()]);
    useEffect(() => {
      this.#listeners.add(setReads);
      setReads([...this.#all.values()]);
      return () => this.#listeners.delete(setReads);
    }, [this]);
    return reads;
  }
}

export const newReads = () => new Reads();
export const PageReads = createContext(new Reads());
const SLOW_MS = 1500;

// The values of a query that are functions are asked at each reading, as for a window of
// time that ends now.
const asked = (query) => Object.fromEntries(Object.entries(query ?? {}).map(([name, value]) => [name, typeof value === "function" ? value() : value]));

// Read a path; null as the path reads nothing. Returns { data, error, loading, slow,
// version, position, refresh }; data of the last read stays while the next is under way.
export function useRead(path, query, { minor = false, reviver } = {}) {
  const key = path === null ? null : `${path}?${JSON.stringify(query ?? {})}`;
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState({ key: null });
  const reads = useContext(PageReads);
  const refresh = useMemo(() => () => setTurn((before) => before + 1), []);
  // Sent before the page is drawn, so that the service works meanwhile.
  const request = useMemo(() => {
    if (key === null) return null;
    const controller = new AbortController();
    const sent = asked(query);
    return { controller, sent, answer: get(path, sent, { signal: controller.signal, reviver }) };
  }, [key, turn]);

  useLayoutEffect(() => {
    if (request === null) return undefined;
    const { controller, sent } = request;
    const update = (change) => {
      if (!controller.signal.aborted) setState((before) => ({ ...(before.key === key ? before : { key }), ...change }));
    };
    if (state.key === key) update({ loading: true, slow: false });
    const timer = setTimeout(() => update({ slow: true }), SLOW_MS);
    const done = request.answer
      .then((answer) => {
        update({ ...answer, error: null, loading: false, slow: false });
        if (!minor && !controller.signal.aborted) reads.report(key, { path, query: sent, refresh, ...answer });
      })
      .catch((error) => {
        if (error.name === "AbortError") return;
        update({ error, loading: false, slow: false });
        if (!minor) reads.report(key, { path, query: sent, refresh, position: null, readAt: Date.now() });
      })
      .finally(() => clearTimeout(timer));
    reads.expect(done);
    return () => {
      clearTimeout(timer);
      controller.abort();
      reads.forget(key);
    };
  }, [request]);

  // Who signs in again goes on with the same page.
  const isRefused = state.error?.isSignedOut;
  useEffect(() => {
    if (!isRefused) return undefined;
    addEventListener("signed-in", refresh);
    return () => removeEventListener("signed-in", refresh);
  }, [isRefused]);

  const current = state.key === key ? state : { loading: key !== null };
  return { ...current, refresh };
}

// How often somebody has signed in again meanwhile, for effects that read.
export function useSignIns() {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const add = () => setCount((before) => before + 1);
    addEventListener("signed-in", add);
    return () => removeEventListener("signed-in", add);
  }, []);
  return count;
}

export const LISTED_MAX = 500;

// Read every page of a list, up to a bound; for names and choices, not for tables.
export async function readAll(path, member) {
  const found = [];
  let after;
  do {
    const { data } = await get(path, { limit: 100, after });
    found.push(...data[member]);
    after = data.end_cursor;
  } while (after && found.length < LISTED_MAX);
  return found;
}

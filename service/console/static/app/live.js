// Pages that stay current: the audit trail as it happens, and reading again and again.
import { stream } from "./api.js";
import { html, useEffect, useRef, useState } from "./ui.js";

export const ENTRIES_MAX = 500;
const RETRY_MS = 3000;
const NOTHING = { entries: [], error: null, waiting: false };

const paused = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

const signedIn = (signal) =>
  new Promise((resolve) => {
    addEventListener("signed-in", resolve, { once: true, signal });
    signal.addEventListener("abort", resolve);
  });

// Follow the trail while `on`, beginning behind `start`. Returns { entries, error,
// waiting }, newest first; paused and resumed it goes on where it was.
export function useLive(filters, start, on) {
  const [state, setState] = useState(NOTHING);
  const last = useRef(0);
  const key = JSON.stringify(filters);
  useEffect(() => {
    last.current = 0;
    setState(NOTHING);
  }, [key]);
  useEffect(() => {
    if (!on || start === null || start === undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const follow = async () => {
      while (!signal.aborted) {
        try {
          setState((before) => ({ ...before, error: null, waiting: false }));
          for await (const entry of stream("/api/audit/stream", { ...filters, after: Math.max(start, last.current) }, signal)) {
            last.current = entry.position;
            setState((before) => ({ ...before, entries: [entry, ...before.entries].slice(0, ENTRIES_MAX) }));
          }
        } catch (error) {
          if (signal.aborted) return;
          if (error.isSignedOut) {
            setState((before) => ({ ...before, error, waiting: true }));
            await signedIn(signal);
            continue;
          }
          // Another try would get the same answer.
          const final = error.status >= 400 && error.status !== 429 && error.status !== 503;
          setState((before) => ({ ...before, error, waiting: !final }));
          if (final) return;
        }
        if (!signal.aborted) setState((before) => ({ ...before, waiting: true }));
        await paused(RETRY_MS, signal);
      }
    };
    follow();
    return () => controller.abort();
  }, [key, start, on]);
  return state;
}

// A button that stops and starts it.
const EVERY_MS = 5000;

export function Refreshing({ on, setOn, read }) {
  const { loading, refresh } = read;
  const isOver = read.error?.isSignedOut;
  // From one answer to the next request: a slow one isn't given up for another. Not while
  // the session is over: refused tokens are counted.
  useEffect(() => {
    if (!on || loading || isOver) return undefined;
    const timer = setTimeout(refresh, EVERY_MS);
    return () => clearTimeout(timer);
  }, [on, loading, isOver, refresh]);
  return html`<p class="buttons"><button type="button" class=${on ? "" : "quiet"} aria-pressed=${on ? "true" : "false"} onClick=${() => setOn(!on)}>${on ? "❚❚ Stop refreshing" : "▶ Refresh every 5 s"}</button></p>`;
}

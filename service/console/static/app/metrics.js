// Metrics in the Prometheus text format, as far as pages show them.
import { getText } from "./api.js";
import { useEffect, useState } from "./ui.js";

const LINE = /^([a-z_]+)(?:\{([^}]*)\})? ([-+.\dA-Za-z]+)$/;

export function parseMetrics(text) {
  const found = {};
  for (const line of text.split("\n")) {
    const [, name, labels = "", value] = LINE.exec(line) ?? [];
    if (name) (found[name] ??= []).push({ labels, value: Number(value) });
  }
  return found;
}

// Read the metrics of the process that answers, again whenever `turn` changes.
export function useMetrics(turn) {
  const [state, setState] = useState({});
  useEffect(() => {
    let current = true;
    getText("/metrics")
      .then((text) => current && setState({ metrics: parseMetrics(text) }))
      .catch((error) => current && setState({ error }));
    return () => {
      current = false;
    };
  }, [turn]);
  // Of this process and of that of its followers, the one that does the work.
  const value = (name) => {
    const found = state.metrics?.[`agent_runtime_${name}`];
    return found && Math.max(...found.map((each) => each.value));
  };
  return { ...state, value };
}

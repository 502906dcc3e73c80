// A chart with the same data as a table; uPlot is loaded with the first one.
import { Table } from "./parts.js";
import { html, useEffect, useRef } from "./ui.js";

const HEIGHT = 200;
// Room for a time with seconds.
const TICK_PX = 84;
const COLOURS = ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6"];

// Dates as everywhere in the console: from the largest step between ticks downwards.
const TICKS = [
  [86400 * 28, "{YYYY}-{MM}", null, null, null, null, null, null, 1],
  [86400, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function optionsOf(series, width, { bars, zone, unit, times }, uPlot) {
  const axis = { stroke: colour("--ink-2"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    scales: { x: { time: times }, y: { range: bars ? (_, low, high) => [Math.min(0, low), high || 1] : undefined } },
    axes: [times ? { ...axis, values: TICKS, space: TICK_PX } : axis, { ...axis, size: 64, values: (_, values) => values.map((value) => `${Number(value.toPrecision(3))}${unit ?? ""}`) }],
    series: [{}, ...series.map((each, index) => ({
      label: each.label,
      stroke: colour(COLOURS[index % COLOURS.length]),
      fill: bars ? colour(COLOURS[index % COLOURS.length]) : undefined,
      width: 2,
      points: { show: !bars, size: 6 },
      paths: bars ? uPlot.paths.bars({ size: [0.6, 60] }) : undefined,
    }))],
  };
}

// `x` are seconds since 1970, or numbers; each of `series` has a label and its values.
export function Chart({ caption, x, series, rows, columns, bars = false, unit = "", zone = "UTC", times = true }) {
  const holder = useRef(null);
  const key = JSON.stringify([x, series, zone]);
  useEffect(() => {
    let chart = null;
    let current = true;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const draw = async () => {
      const { default: uPlot } = await import("../vendor/uplot.mjs");
      if (!current || !holder.current) return;
      chart?.destroy();
      const width = Math.max(200, holder.current.clientWidth);
      chart = new uPlot(optionsOf(series, width, { bars, zone, unit, times }, uPlot), [x, ...series.map((each) => each.values)], holder.current);
    };
    const resized = new ResizeObserver(() => holder.current && chart?.setSize({ width: Math.max(200, holder.current.clientWidth), height: HEIGHT }));
    draw().then(() => holder.current && resized.observe(holder.current));
    dark.addEventListener("change", draw);
    return () => {
      current = false;
      resized.disconnect();
      dark.removeEventListener("change", draw);
      chart?.destroy();
    };
  }, [key]);
  return html`<figure class="chart">
    <figcaption>${caption}${series.length > 1 && html`<span class="legend">${series.map((each, index) => html`<span class="key series-${(index % COLOURS.length) + 1}">${each.label}</span>`)}</span>`}</figcaption>
    <div class="canvas" ref=${holder} role="img" aria-label="${caption}; the table below has the same figures"></div>
    <details><summary>The same as a table</summary><${Table} caption=${caption} columns=${columns} rows=${rows} rowKey=${(_, index) => index} empty="No data." /></details>
  </figure>`;
}

// A chart with the same data as a table; uPlot is loaded with the first one.
import { Cut, Table } from "./parts.js";
import { html, useEffect, useRef } from "./ui.js";

const HEIGHT = 200;
// Room for a time with seconds.
const TICK_PX = 84;
const COLOURS = 6;
const NAME_MAX = 24;
const DAY_S = 86400;
const AROUND_ONE_S = 30;

// Dates as everywhere in the console: from the largest step between ticks downwards.
const TICKS = [
  [86400 * 28, "{YYYY}-{MM}", null, null, null, null, null, null, 1],
  [86400, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
];

// The name of a series' colour, and of its class.
const nameOf = (each, index) => (each.isOther ? "series-other" : `series-${(index % COLOURS) + 1}`);

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Bars upon each other: each as high as the sums up to it, the highest drawn first.
function stacked(series) {
  const sums = series[0]?.values.map(() => 0);
  return series.map((each) => ({ ...each, values: each.values.map((value, index) => (sums[index] += value)) })).reverse();
}

// Room for half a bar beside the first and the last one, and a label below as many as
// there is room for.
function scaleOf(x) {
  const slot = x.length > 1 ? Math.min(...x.slice(1).map((each, index) => each - x[index])) : DAY_S;
  const splits = (plot, _, low, high) => {
    const room = ((high - low) * TICK_PX) / Math.max(1, plot.bbox.width / devicePixelRatio);
    return x.reduce((kept, each) => (kept.length && each - kept.at(-1) < room ? kept : [...kept, each]), []);
  };
  const values = (_, places) => places.map((each) => new Date(each * 1000).toISOString().slice(0, 10));
  return { range: () => [x[0] - slot / 2, x.at(-1) + slot / 2], axis: { splits, values, grid: { show: false }, size: 34 } };
}

// The first and the last time of a line's axis: for one moment alone uPlot would show years.
export function endsOf(x) {
  return x[0] === x.at(-1) ? [x[0] - AROUND_ONE_S, x[0] + AROUND_ONE_S] : [x[0], x.at(-1)];
}

function optionsOf(x, series, width, { bars, zone, unit, times }, uPlot) {
  const scale = bars ? scaleOf(x) : { range: times ? () => endsOf(x) : undefined };
  const axis = { stroke: colour("--ink-2"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    scales: { x: { time: times, range: scale.range }, y: { range: (_, low, high) => [Math.min(0, low), (high || 1) * 1.05] } },
    axes: [times ? { ...axis, values: TICKS, space: TICK_PX, ...scale.axis } : axis, { ...axis, size: 64, values: (_, values) => values.map((value) => `${Number(value.toPrecision(3))}${unit ?? ""}`) }],
    series: [{}, ...series.map((each) => ({
      label: each.label,
      stroke: colour(`--${each.name}`),
      fill: bars ? colour(`--${each.name}`) : undefined,
      width: bars ? 0 : 2,
      points: { show: !bars, size: 6 },
      paths: bars ? uPlot.paths.bars({ size: [0.6, 60] }) : undefined,
    }))],
  };
}

// `x` are seconds since 1970, or numbers; each of `series` has a label and its values.
// `bars` are of whole days in UTC; `note` says what the picture doesn't show.
export function Chart({ caption, note, x, series: given, rows, columns, bars = false, unit = "", zone = "UTC", times = true }) {
  const holder = useRef(null);
  const series = given.map((each, index) => ({ ...each, name: nameOf(each, index) }));
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
      const drawn = bars ? stacked(series) : series;
      chart = new uPlot(optionsOf(x, drawn, width, { bars, zone, unit, times }, uPlot), [x, ...drawn.map((each) => each.values)], holder.current);
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
    <figcaption>${caption}${series.length > 0 && html`<span class="legend">${series.map((each) => html`<span class="key ${each.name}"><${Cut} text=${each.label} length=${NAME_MAX} /></span>`)}</span>`}</figcaption>
    ${note && html`<p class="meta">${note}</p>`}
    <div class="canvas" ref=${holder} role="img" aria-label="${caption}; the table below has the same figures"></div>
    <details><summary>The same as a table</summary><${Table} caption=${caption} columns=${columns} rows=${rows} rowKey=${(_, index) => index} empty="No data." /></details>
  </figure>`;
}

// Periods as bars over a common time axis; the table beside them has the same data.
import { shown } from "./time.js";
import { html } from "./ui.js";

const WIDTH = 720;
const LABEL = 170;
const ROW = 24;
const TICKS = 3;

const cut = (text) => (text.length > 24 ? `${text.slice(0, 23)}…` : text);

// `lanes` are { label, spans: [{ from, until, alt }] }, in milliseconds; null is open.
export function Timeline({ caption, lanes, from, until }) {
  const range = Math.max(1, until - from);
  const x = (at) => LABEL + ((Math.min(Math.max(at, from), until) - from) / range) * (WIDTH - LABEL - 10);
  const height = lanes.length * ROW + 30;
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => from + (range * index) / TICKS);
  return html`<figure class="chart"><figcaption>${caption}</figcaption>
    <div class="scroll" role="region" aria-label=${caption} tabindex="0"><svg class="timeline" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${caption}; the table has the same periods">
      ${ticks.map((at, index) => html`<line class="tick" x1=${x(at)} x2=${x(at)} y1="0" y2=${height - 22} />
        <text x=${x(at)} y=${height - 6} text-anchor=${index === TICKS ? "end" : index ? "middle" : "start"}>${shown(at).slice(0, 16)}</text>`)}
      ${lanes.map((lane, index) => html`<text x="0" y=${index * ROW + 16}>${cut(lane.label)}</text>
        <rect class="track" x=${LABEL} y=${index * ROW + 5} width=${WIDTH - LABEL - 10} height=${ROW - 10} />
        ${lane.spans.map((span) => html`<rect class="span ${span.alt ? "alt" : ""}" x=${x(span.from ?? from)} y=${index * ROW + 5}
          width=${Math.max(2, x(span.until ?? until) - x(span.from ?? from))} height=${ROW - 10} />`)}`)}
    </svg></div>
  </figure>`;
}

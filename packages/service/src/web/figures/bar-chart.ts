import { type Html, html } from '#kernel/text/html.ts';
import { table } from '#web/figures/figures.ts';
import { PART_TEXTS as TEXTS } from '#web/components/texts.ts';

/** A quantity in two forms: the height of its bar, and what people read. */
interface Quantity {
  readonly size: number;
  readonly text: string;
}

/**
 * With `main`, the series is what the chart is about. `rare`, `bad` and `calm` set parts apart that are unusual, a
 * fault, or beside the point.
 */
type SeriesKind = 'main' | 'rare' | 'bad' | 'calm';

interface BarChart {
  /** The id, which is unique on the page. */
  readonly id: string;
  readonly caption: string;
  readonly series: readonly { readonly name: string; readonly kind: SeriesKind }[];
  /**
   * The bars from the oldest to the newest, each with a quantity for every series. The parts of a bar stand on each
   * other.
   */
  readonly slots: readonly { readonly label: string; readonly parts: readonly Quantity[] }[];
  /** How a height of the axis is written, for example with a currency. */
  readonly axis: (size: number) => string;
}

const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 58;
const TOP = 10;
const BOTTOM = 24;
const LABELS_MAX = 6;

/** Bars over time as a picture, and the same figures as a table below it, for those who see none or need them exactly. */
export function barChart({ id, caption, series, slots, axis }: BarChart): Html {
  const most = Math.max(0, ...slots.map(({ parts }) => parts.reduce((sum, { size }) => sum + size, 0)));
  const top = roundUp(most);
  const plotHeight = HEIGHT - TOP - BOTTOM;
  const heightOf = (size: number) => (size / top) * plotHeight;
  const step = (WIDTH - LEFT) / Math.max(1, slots.length);
  const lines = [0, top / 2, top].map((size) => {
    const y = decimal(TOP + plotHeight - heightOf(size));
    return html`<line x1="${LEFT}" x2="${WIDTH}" y1="${y}" y2="${y}"/><text x="${LEFT - 8}" y="${decimal(Number(y) + 4)}" text-anchor="end">${axis(size)}</text>`;
  });
  const bars = slots.map(({ label, parts }, at) => {
    let y = TOP + plotHeight;
    const rects = parts.map(({ size, text }, which) => {
      if (size <= 0) return undefined;
      const height = heightOf(size);
      y -= height;
      const { name = '', kind = 'main' } = series[which] ?? {};
      return html`<rect${kind === 'main' ? undefined : html` class="${kind}"`} x="${decimal(LEFT + at * step + step * 0.12)}" y="${decimal(y)}" width="${decimal(step * 0.76)}" height="${decimal(height)}" rx="1.5"><title>${label}: ${text} ${name}</title></rect>`;
    });
    const isLabelled = at % Math.ceil(slots.length / LABELS_MAX) === 0;
    const text = html`<text x="${decimal(LEFT + (at + 0.5) * step)}" y="${HEIGHT - 7}" text-anchor="middle">${label}</text>`;
    return [...rects, isLabelled ? text : undefined];
  });
  return html`<div class="chart" role="group" aria-label="${caption}" tabindex="0">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${id}-title"><title id="${id}-title">${caption}</title>${lines}${bars}</svg>
</div>
${series.length < 2 ? undefined : html`<ul class="keys">${series.map(({ name, kind }) => html`<li class="key ${kind}">${name}</li>`)}</ul>`}
<details><summary>${TEXTS.asTable}</summary>
${table({
  caption,
  columns: [{ name: TEXTS.when }, ...series.map(({ name }) => ({ name, isNumeric: true }))],
  rows: slots.map(({ label, parts }) => [label, ...parts.map(({ text }) => text)]),
  empty: '',
})}
</details>`;
}

/** The least of 1, 2, 4, 6 and 10 times a power of ten that is not below, so that the axis and its middle are round. At least 2. */
function roundUp(size: number): number {
  if (size <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(size));
  return ([1, 2, 4, 6, 10].find((factor) => factor * power >= size) ?? 10) * power;
}

/** A place in the picture, to a tenth of a unit. */
function decimal(value: number): string {
  return String(Math.round(value * 10) / 10);
}

// The chart of a run: for each goal a bar of what was found, on a scale on which the floor is one length for all.
import type { Finding, Verdict } from './ratios.ts';
import { shortNumber } from './support/table.ts';

const WIDTH = 960;
const MARGIN = 24;
const TITLE_HEIGHT = 76;
const ROW_HEIGHT = 46;
const BAR_HEIGHT = 14;
const BAR_LEFT = MARGIN;
/** Where every floor stands. Bars are as long as what was found, against their floor, up to the end of the scale. */
const FLOOR_AT = 300;
const BAR_END = 760;

const CLASS_OF: Readonly<Record<Verdict, string>> = {
  'aim reached': 'aim',
  'floor held': 'floor',
  MISSED: 'missed',
  'not measured': 'none',
};

const STYLE = `
  svg { font: 14px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
  .page { fill: #ffffff; } .text { fill: #1c2430; } .faint { fill: #5b6675; }
  .track { fill: #eceff3; } .line { stroke: #1c2430; } .aimline { stroke: #1c2430; stroke-dasharray: 3 3; }
  .aim { fill: #1f7a4d; } .floor { fill: #2f6fb3; } .missed { fill: #b3382f; } .none { fill: #8a94a3; }
  .head { font-size: 18px; font-weight: 600; } .value { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #14181f; } .text { fill: #e8ecf1; } .faint { fill: #9aa5b4; }
    .track { fill: #262d38; } .line { stroke: #e8ecf1; } .aimline { stroke: #e8ecf1; }
    .aim { fill: #4cc38a; } .floor { fill: #6fa8e6; } .missed { fill: #f0786e; } .none { fill: #6d7786; }
  }`;

export function chartOf(findings: readonly Finding[], date: string): string {
  const measured = findings.filter(({ verdict }) => verdict !== 'not measured');
  const height = TITLE_HEIGHT + measured.length * ROW_HEIGHT + MARGIN;
  const rows = measured.map((finding, index) => rowOf(finding, TITLE_HEIGHT + index * ROW_HEIGHT));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>What was found on ${date}, against what must be reached</title>
<style>${STYLE}
</style>
<rect class="page" width="${WIDTH}" height="${height}"/>
<text class="text head" x="${MARGIN}" y="32">What was found on ${date}, against what must be reached</text>
<text class="faint" x="${MARGIN}" y="54">The line is the floor, the dashes the aim. Shorter is better, but where it says "at least". A bar that fills its track is longer.</text>
${rows.join('\n')}
</svg>
`;
}

function rowOf({ goal, value, verdict }: Finding, top: number): string {
  const scale = (FLOOR_AT - BAR_LEFT) / goal.floor;
  const at = (figure: number): number => round(Math.min(BAR_END, BAR_LEFT + figure * scale));
  const barTop = top + 22;
  const marker = (className: string, x: number): string =>
    `<line class="${className}" x1="${x}" x2="${x}" y1="${barTop - 4}" y2="${barTop + BAR_HEIGHT + 4}" stroke-width="2"/>`;
  const unit = goal.unit === undefined ? '' : ` ${goal.unit}`;
  const limits = `at ${goal.bound} ${goal.floor}${unit}, aim ${goal.aim}`;
  return `<text class="text" x="${BAR_LEFT}" y="${top + 14}">${escaped(goal.title)} <tspan class="faint">(${limits})</tspan></text>
<rect class="track" x="${BAR_LEFT}" y="${barTop}" width="${BAR_END - BAR_LEFT}" height="${BAR_HEIGHT}" rx="3"/>
<rect class="${CLASS_OF[verdict]}" x="${BAR_LEFT}" y="${barTop}" width="${round(at(value) - BAR_LEFT)}" height="${BAR_HEIGHT}" rx="3"/>
${marker('line', at(goal.floor))}${marker('aimline', at(goal.aim))}
<text class="text value" x="${BAR_END + 14}" y="${barTop + 12}">${shortNumber(value)}${unit}<tspan class="faint" font-weight="400"> ${verdict}</tspan></text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

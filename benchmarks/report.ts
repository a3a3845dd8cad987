// The report of a run: Markdown to read, JSON to work with.
import type { Measure } from './measure.ts';
import { type Finding, findingsOf, type Results } from './ratios.ts';
import { shortNumber, tableOf } from './support/table.ts';

/** Everything that a run found out. */
export interface Report {
  /** The date, such as `2026-11-22`. */
  readonly date: string;
  readonly machine: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly placement: string;
  readonly measures: readonly Pick<Measure, 'name' | 'title'>[];
  readonly results: Results;
  /** The notes. The key is the measure that a note was taken in. */
  readonly notes: ReadonlyMap<string, readonly string[]>;
  readonly missing: readonly { readonly what: string; readonly how: string }[];
  /** The processor time that other processes of the machine used meanwhile, in percent of a core. */
  readonly othersPercent: number;
}

export function markdownOf(report: Report): string {
  const { date, machine, rounds, seconds, results, notes, missing } = report;
  const parts = [
    `# Benchmark of ${date}`,
    `${machine}. Medians of ${rounds} rounds of ${seconds} s for each target, all targets in turn in each round and in the opposite order in every second one; a ratio is the ` +
      `median of the ratios within the rounds. ${report.placement} Other processes used ${report.othersPercent.toFixed(0)} % of a core ` +
      'meanwhile. Compare figures of one run alone: another machine, or another hour, has others.',
    '## What must be reached',
    findingsTable(findingsOf(results)),
  ];
  if (missing.length > 0) {
    const lines = missing.map(({ what, how }) => `- ${what}: ${how}`);
    parts.push(`## What was left out\n\n${lines.join('\n')}`);
  }
  for (const { name, title } of report.measures) {
    const rows = results.get(name) ?? [];
    parts.push(`## ${title}`);
    if (rows.length > 0) parts.push(measureTable(results, name));
    const voids = rows.filter(({ isVoid }) => isVoid !== undefined);
    parts.push(...voids.map(({ target, isVoid }) => `${target} is void: ${isVoid}.`));
    parts.push(...(notes.get(name) ?? []));
  }
  return `${parts.join('\n\n')}\n`;
}

function findingsTable(findings: readonly Finding[]): string {
  return tableOf(
    ['measure', 'found', 'floor', 'aim', 'verdict'],
    findings.map(({ goal, value, verdict }) => [
      goal.title,
      Number.isFinite(value) ? `${shortNumber(value)} ${goal.unit ?? 'times'}` : '-',
      ...[goal.floor, goal.aim].map((limit) => `at ${goal.bound} ${limit}`),
      verdict,
    ]),
  );
}

/** A measure's rows; the unit of each column stands in its head. */
function measureTable(results: Results, name: string): string {
  const rows = results.get(name) ?? [];
  // In the order of the row that has most of them: others leave some out.
  const named = rows.map(({ figures }) => Object.keys(figures)).toSorted((left, right) => right.length - left.length);
  const columns = [...new Set(named.flat())];
  const unitOf = (column: string): string => rows.find(({ figures }) => figures[column])?.figures[column]?.unit ?? '';
  return tableOf(
    ['', ...columns.map((column) => (column === unitOf(column) ? column : `${column} (${unitOf(column)})`))],
    rows.map(({ target, figures, isVoid }) => [
      isVoid === undefined ? target : `${target} (void)`,
      ...columns.map((column) => shortNumber(figures[column]?.median ?? Number.NaN)),
    ]),
  );
}

/** The same with every round's figure. */
export function jsonOf(report: Report): string {
  const { results, notes, ...rest } = report;
  const findings = findingsOf(results).map(({ goal, value, verdict }) => ({
    title: goal.title,
    value: Number.isFinite(value) ? value : null,
    bound: goal.bound,
    floor: goal.floor,
    aim: goal.aim,
    verdict,
  }));
  return `${JSON.stringify(
    { ...rest, findings, results: Object.fromEntries(results), notes: Object.fromEntries(notes) },
    undefined,
    2,
  )}\n`;
}

import { inUnits } from '#price-lists/decimal.ts';
import type { Row } from '#price-lists/judge.ts';
import type { Proposal } from '#price-lists/propose.ts';

const HEADS = ['price of a million tokens', 'now', 'list', 'second list', 'change'] as const;

/** Writes what the lists say about each model, for a person to read, in the catalogue's currency. */
export function reportOf(proposals: readonly Proposal[]): string {
  return proposals.map(oneOf).join('\n\n');
}

function oneOf({ upstream, listed, second, skipped, judgement }: Proposal): string {
  const name = `${upstream.model} (${upstream.provider}/${upstream.providerModel})`;
  if (judgement === undefined) return `${name}: not compared\n  - ${skipped ?? ''}.`;
  const words = { same: 'unchanged', change: 'NEW PRICE', refused: 'REFUSED' }[judgement.verdict];
  const lines = [`${name}: ${words}`, `  ${placesOf(listed, second)}`];
  if (judgement.verdict !== 'same' && judgement.rows.length > 0) lines.push(...tableOf(judgement.rows));
  for (const fault of judgement.faults) lines.push(`  ! ${fault}.`);
  for (const note of judgement.notes) lines.push(`  - ${note}.`);
  return lines.join('\n');
}

function placesOf(listed: string | undefined, second: string | undefined): string {
  const inSecond = second === undefined ? 'not in the second list' : `${second} in the second list`;
  return `${listed ?? ''} in the list, ${inSecond}`;
}

function tableOf(rows: readonly Row[]): readonly string[] {
  const cells = [HEADS, ...rows.map(cellsOf)];
  const widths = HEADS.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) => {
    const padded = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `  ${padded.join('  ')}`.trimEnd();
  });
}

function cellsOf({ words, old, listed, second, next }: Row): readonly string[] {
  return [words, shown(old), shown(listed), shown(second), changeOf(old, next)];
}

function shown(amount: bigint | undefined): string {
  return amount === undefined ? '-' : inUnits(amount);
}

/** The change in tenths of a percent, rounded towards zero. */
function changeOf(old: bigint | undefined, next: bigint | undefined): string {
  if (old === next) return '';
  if (old === undefined) return 'new';
  if (next === undefined) return 'left out';
  if (old === 0n) return 'new';
  const tenths = ((next - old) * 1_000n) / old;
  const size = tenths < 0n ? -tenths : tenths;
  return `${next < old ? '-' : '+'}${size / 10n}.${size % 10n} %`;
}

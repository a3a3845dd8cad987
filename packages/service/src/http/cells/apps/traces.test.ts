import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import { tracesEverywhere } from '#http/cells/apps/traces.ts';
import type { RecentQuery, RecentRow } from '#calls/traces/queries.ts';
import { type TraceRows, traceReaderOf } from '#calls/traces/traces.ts';

/** A cell that reads at most `scanned` rows for a page, as `selectRecentTraces` does. */
function cellWith(all: readonly RecentRow[], scanned: number): TraceRows['recent'] {
  return ({ after }: RecentQuery, most) => {
    const read = all
      .filter((row) => after === undefined || isOlder(row, after.endedMicros, after.traceId))
      .slice(0, scanned);
    const found = read.filter((row) => row.is_found).slice(0, most);
    const last = read.at(-1);
    const goesOn = found.length < most && last !== undefined && (!last.is_found || read.length === scanned);
    return Promise.resolve(goesOn ? [...found, { ...last, is_found: false }] : found);
  };
}

function isOlder(row: RecentRow, endedMicros: bigint, traceId: bigint): boolean {
  return row.ended_micros < endedMicros || (row.ended_micros === endedMicros && row.trace_id < traceId);
}

/** Returns rows, the newest first. A `-` stands for a row that does not fit. */
function rowsOf(places: string): readonly RecentRow[] {
  const rows = Array.from(places.matchAll(/(-?)(\d+)/g), ([, sign, time]) => ({ sign, time: Number(time) }));
  return rows.map(({ sign, time }) => {
    const row = {
      ended_micros: BigInt(time),
      trace_id: BigInt(time),
      is_found: sign === '',
      correlation_id: `${time}`,
    };
    return { ...row, ended_at: new Date(time), charged_micros: 0n } as unknown as RecentRow;
  });
}

const findNothing = () => Promise.resolve([]);

async function pagesOf(cells: readonly TraceRows['recent'][], most: number): Promise<readonly string[]> {
  const [here, ...there] = cells;
  const every = {
    reader: (_question: unknown, local: (asked: unknown) => Promise<unknown>) => async (asked: never) => [
      await local(asked),
      ...(await Promise.all(there.map((recent) => recent((asked as { query: RecentQuery }).query, most)))),
    ],
  } as unknown as EveryCell;
  const rows = tracesEverywhere({ find: findNothing, recent: here as TraceRows['recent'] }, every);
  const reader = traceReaderOf(rows);
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await reader.recent({} as RecentQuery, after, most);
    assert.ok(page.traces.length <= most);
    found.push(...page.traces.map(({ correlationId }) => correlationId));
    if (page.next === undefined) return found;
    after = page.next;
  }
}

test('CE-06 CC-19 pages over all cells have each call once, newest first', async () => {
  const places = ['29 27 -26 -24 -20 -18 3 2', '28 -25 23 22 21 -19 17 1', '', '-16 -15 -14 -13 -12 -11 10'];
  const inOrder = '29 28 27 23 22 21 17 10 3 2 1'.split(' ');
  for (const scanned of [1, 2, 3, 5, 50]) {
    for (const most of [1, 2, 3, 20]) {
      const cells = places.map((text) => cellWith(rowsOf(text), scanned));
      assert.deepEqual(await pagesOf(cells, most), inOrder, `${scanned} ${most}`);
    }
  }
});

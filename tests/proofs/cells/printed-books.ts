// What owners and operators read of several cells.
import type { TestContext } from 'node:test';
import { readCells } from '../../../packages/service/src/cli/cells-command.ts';
import type { Pool } from '../../../packages/service/src/db/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { SHARED_SECRET } from '../../support/two-gateways.ts';

/** Statistics as an owner gets them. */
export interface Sums {
  readonly totals: {
    readonly chargedCalls: number;
    readonly chargedMicros: number;
    readonly total: { readonly count: number };
  };
  readonly series: readonly { readonly chargedCalls: number }[];
  readonly models: readonly { readonly chargedMicros: number }[];
  readonly keys: readonly { readonly chargedMicros: number }[];
  readonly outcomes: readonly { readonly outcome: string; readonly calls: number }[];
}

/** What `purser cells books` prints in c1. */
export async function printedBooks(t: TestContext, owner: Pool) {
  const config = {
    cell: 'c1',
    directoryUrl: undefined,
    otherDatabaseUrl: undefined,
    secret: Buffer.from(SHARED_SECRET.PURSER_SECRET),
    secretAlso: undefined,
  };
  const print = t.mock.method(console, 'log', () => {});
  try {
    const status = await readCells(['books'])(owner, { config, log: createLog('silent') });
    return { status, lines: print.mock.calls.map(({ arguments: [line] }) => String(line)) };
  } finally {
    print.mock.restore();
  }
}

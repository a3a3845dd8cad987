// What owners and operators read of several cells.
import type { TestContext } from 'node:test';
import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { runHere } from '../../support/commands.ts';
import { SHARED_SECRET } from '../../support/keys.ts';

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
  return runHere(t, ['cells', 'books'], { owner, environment: { PURSER_CELL: 'c1', ...SHARED_SECRET } });
}

import { z } from 'zod';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import { bigintSchema } from '#http/cells/questions/schemas.ts';
import type { CellBooks } from '#ledger/moving/queries.ts';

/**
 * `POST /cells/books` asks for the money in a cell, and what has moved. The answer has sums over all apps, and nothing
 * about anybody.
 */
export const BOOKS: CellQuestion<object, CellBooks> = {
  path: '/cells/books',
  bytesMax: 1_024,
  /** All wallets are read. */
  waitMs: 25_000,
  asked: z.object({}),
  answer: z.object({
    wallets: bigintSchema,
    balance: bigintSchema,
    owed: bigintSchema,
    moved_in: bigintSchema,
    moved_out: bigintSchema,
    owed_in: bigintSchema,
    owed_out: bigintSchema,
  }),
};

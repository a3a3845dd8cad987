import { z } from 'zod';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import { textSchema } from '#http/cells/questions/schemas.ts';
import type { FindAnything } from '#operator/look-up/find.ts';

/** A page shows the rest without a cell that is slow. */
const WAIT_MS = 2_000;
/** A query has at most 512 characters, of up to six bytes each in JSON. */
const BYTES_MAX = 4_096;

/** Whether another cell has what an operator looks for. Undefined if it does not answer. */
export interface FoundElsewhere {
  readonly cell: string;
  readonly has: boolean | undefined;
}

/** `POST /cells/find` asks whether that cell has something of this id or address. Operators see there what it is. */
const FIND: CellQuestion<{ readonly text: string }, { readonly has: boolean }> = {
  path: '/cells/find',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({ text: textSchema }),
  answer: z.object({ has: z.boolean() }),
};

/** Asks all other cells at once, and lets them ask this one. */
export function findElsewhere(
  find: FindAnything,
  { survey }: EveryCell,
): (text: string) => Promise<readonly FoundElsewhere[]> {
  const ask = survey(FIND, async ({ text }) => ({ has: (await find(text)).length > 0 }));
  return async (text) => (await ask({ text })).map(({ cell, answer }) => ({ cell, has: answer?.has }));
}

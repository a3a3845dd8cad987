import { FINDING_KINDS } from '@purser/contract/operator-overview.ts';
import { z } from 'zod';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import { countSchema, listOf, maybe, microsSchema } from '#http/cells/questions/schemas.ts';
import type { Attention } from '#operator/health/attention.ts';

/** An overview shows the rest without a cell that is slow. */
const WAIT_MS = 2_000;
const BYTES_MAX = 64;

/** What needs a person in a cell, without the names of things: they are looked up there. */
type CellAttention = Pick<Attention, 'books' | 'held'> & {
  readonly findings: readonly Pick<Attention['findings'][number], 'kind' | 'count'>[];
};

/** Another cell. `attention` is undefined if it does not answer. */
export interface OtherCellAttention {
  readonly cell: string;
  readonly attention: CellAttention | undefined;
}

/** `POST /cells/attention` asks what needs a person in that cell. */
const ATTENTION: CellQuestion<object, CellAttention> = {
  path: '/cells/attention',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({}),
  answer: z.object({
    findings: listOf(z.object({ kind: z.enum(FINDING_KINDS), count: countSchema })),
    books: z.object({ checkedAtMs: maybe(z.number()), differences: countSchema }),
    held: z.object({ amount: microsSchema, calls: countSchema }),
  }),
};

/** Asks all other cells at once what needs a person there, and lets them ask this one. */
export function attentionElsewhere(
  readAttention: () => Promise<Attention>,
  { survey }: EveryCell,
): () => Promise<readonly OtherCellAttention[]> {
  const ask = survey(ATTENTION, async () => {
    const { findings, books, held } = await readAttention();
    const own = findings.filter(({ kind }) => kind !== 'operators-without-second-factor'); // Accounts are the same in all cells.
    return { findings: own.map(({ kind, count }) => ({ kind, count })), books, held };
  });
  return async () => (await ask({})).map(({ cell, answer: attention }) => ({ cell, attention }));
}

import { z } from 'zod';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import { bigintSchema } from '#http/cells/questions/schemas.ts';

const digestsSchema = z.codec(z.record(z.string(), z.string()), z.map(z.string(), z.string()), {
  decode: (digests) => new Map(Object.entries(digests)),
  encode: (digests) => Object.fromEntries(digests),
});

/**
 * `POST /cells/directory` asks for digests of the directory, which tell nothing about anybody. Only the cell that has
 * the directory answers.
 */
export const DIRECTORY_STATE: CellQuestion<
  object,
  { readonly beat: bigint; readonly digests: ReadonlyMap<string, string> }
> = {
  path: '/cells/directory',
  bytesMax: 1_024,
  /** How long a cell may take, in milliseconds: the whole directory is read. */
  waitMs: 25_000,
  asked: z.object({}),
  answer: z.object({ beat: bigintSchema, digests: digestsSchema }),
};

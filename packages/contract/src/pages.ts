import { z } from 'zod';

/** Lists come in pages: a query has the place from which a page goes on and the most that it holds, an answer the place of the next one. */

/** The page size of a query: at most `most`, and `standard` if it is left out. */
export function pageLimit(most: number, standard = most) {
  return queryNumber(1, most).default(standard);
}

/** A whole number in a query. Queries are text, so only plain digits count: not `1e3`, not `0x10`, not ` 5`. */
export function queryNumber(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.preprocess(readNumber, z.int({ error }).min(least, { error }).max(most, { error }));
}

function readNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
}

/** The `next` of an earlier page, in its form. */
export function earlierNext(form: RegExp) {
  return z
    .string()
    .regex(form, { error: 'must be the `next` of an earlier page' })
    .optional()
    .meta({ description: 'The `next` of the previous page.' });
}

/** The place of the next page, which a query names as `before` or `after`. */
export function nextPage(name: 'before' | 'after') {
  return z
    .string()
    .nullable()
    .meta({ description: `Pass it as \`?${name}=\` to get the next page. It is null on the last page.` });
}

/** The number of the last entry of the page before. */
export const before = earlierNext(/^\d{1,18}$/);

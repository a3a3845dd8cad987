import { z } from 'zod';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import { added, costliest, inTime, sumOf, timeOf } from '#http/cells/questions/add-rows.ts';
import {
  appIdSchema,
  bigintSchema,
  listOf,
  modeSchema,
  textSchema,
  timeSchema,
} from '#http/cells/questions/schemas.ts';
import { CONSOLE_KEY_ID, type KeyId, parseId } from '#kernel/values/ids.ts';
import type { StatsOutcome } from '#calls/stats/outcome.ts';
import type { Firsts, SumsQuery, SumsRow } from '#calls/stats/queries.ts';
import type { StatsRows } from '#calls/stats/rows.ts';

/** A person waits for a page. */
const WAIT_MS = 5_000;
/** An account may have very many apps. */
const BYTES_MAX = 262_144;
/** The groups of a cell that are added up. One that is beyond them there is missing in their sum. */
const GROUPS_MAX = 10_000;

const outcomeSchema = z.custom<StatsOutcome>((text) => typeof text === 'string' && text.length <= 64);
const keyIdSchema = z.custom<KeyId>(
  (id) => id === CONSOLE_KEY_ID || (typeof id === 'string' && parseId('key', id) !== undefined),
);
const range = { mode: modeSchema, from: timeSchema, to: timeSchema };
const querySchema: z.ZodType<SumsQuery> = z.object({
  ...range,
  appIds: z.array(appIdSchema).nullable(),
  providerErrors: z.array(outcomeSchema),
  served: z.array(outcomeSchema),
  faults: z.array(outcomeSchema),
  models: z.array(textSchema).optional(),
});
const keysShape = { ...range, appId: appIdSchema };
const mostSchema = z.int().min(1).max(GROUPS_MAX);

const COUNT = /^\d{1,19}$/;
/** One check for all of them: a report may have ten thousand rows, and each has 32 of them. */
const bucketsSchema = z.custom<SumsRow['total']>(
  (counts) =>
    Array.isArray(counts) &&
    counts.every((count) => typeof count === 'number' || (typeof count === 'string' && COUNT.test(count))),
);
const sumsShape = {
  calls: bigintSchema,
  charged_calls: bigintSchema,
  provider_errors: bigintSchema,
  faults: bigintSchema,
  served: bigintSchema,
  charged_micros: bigintSchema,
  cost_micros: bigintSchema,
  uncosted_micros: bigintSchema,
  prompt_tokens: bigintSchema,
  completion_tokens: bigintSchema,
  first_byte: bucketsSchema,
  total: bucketsSchema,
};
const keySums = { calls: bigintSchema, charged_calls: bigintSchema, charged_micros: bigintSchema };
const groupOf = <Name extends z.ZodType>(name: Name) => z.object({ ...sumsShape, name });

function questionOf<Asked, Answer>(
  name: string,
  asked: z.ZodType<Asked>,
  answer: z.ZodType<Answer>,
): CellQuestion<Asked, Answer> {
  return { path: `/cells/stats/${name}`, bytesMax: BYTES_MAX, waitMs: WAIT_MS, asked, answer };
}

const groupsAsked = z.object({ query: querySchema, most: mostSchema });
const TOTALS = questionOf('totals', querySchema, z.object(sumsShape).nullable());
const SERIES = questionOf(
  'series',
  z.object({ query: querySchema, step: z.enum(['hour', 'day']) }),
  listOf(z.object({ ...sumsShape, at: timeSchema })),
);
const MODELS = questionOf('models', groupsAsked, listOf(groupOf(textSchema)));
const OUTCOMES = questionOf('outcomes', groupsAsked, listOf(groupOf(outcomeSchema)));
const APPS = questionOf('apps', groupsAsked, listOf(groupOf(appIdSchema)));
const GROUPS = questionOf(
  'groups',
  groupsAsked,
  listOf(
    z.discriminatedUnion('by', [
      z.object({ ...sumsShape, by: z.literal('model'), name: textSchema }),
      z.object({ ...sumsShape, by: z.literal('outcome'), name: outcomeSchema }),
      z.object({ ...sumsShape, by: z.literal('app_id'), name: appIdSchema }),
    ]),
  ),
);
const FIRSTS = questionOf(
  'firsts',
  z.object({ appId: appIdSchema, notRefused: listOf(outcomeSchema) }),
  z.object({ played: z.boolean(), refused: z.boolean(), charged: z.boolean() }),
);
const KEYS = questionOf(
  'keys',
  z.object({ query: z.object(keysShape), most: mostSchema }),
  listOf(z.object({ ...keySums, key_id: keyIdSchema })),
);
const KEY_SERIES = questionOf(
  'key-series',
  z.object({ ...keysShape, keyId: keyIdSchema }),
  listOf(z.object({ ...keySums, at: timeSchema })),
);

/** The sums of all cells, added up. Latencies are counts by bucket, so they add up as well. */
export function statsEverywhere(local: StatsRows, { reader }: EveryCell): StatsRows {
  const totals = reader(TOTALS, async (query) => (await local.totals(query)) ?? null);
  const series = reader(SERIES, ({ query, step }) => local.series(query, step));
  const models = reader(MODELS, ({ query, most }) => local.models(query, most));
  const outcomes = reader(OUTCOMES, ({ query, most }) => local.outcomes(query, most));
  const apps = reader(APPS, ({ query, most }) => local.apps(query, most));
  const groups = reader(GROUPS, ({ query, most }) => local.allGroups(query, most));
  const firsts = reader(FIRSTS, ({ appId, notRefused }) => local.firsts(appId, notRefused));
  const keys = reader(KEYS, ({ query, most }) => local.keys(query, most));
  const keySeries = reader(KEY_SERIES, local.keySeries);
  const all = GROUPS_MAX;
  return {
    totals: async (query) => sumOf((await totals(query)).filter((row) => row !== null)),
    series: async (query, step) => inTime(added(await series({ query, step }), timeOf)),
    models: async (query, most) =>
      costliest(added(await models({ query, most: all }), ({ name }) => name)).slice(0, most),
    outcomes: async (query, most) =>
      costliest(added(await outcomes({ query, most: all }), ({ name }) => name)).slice(0, most),
    apps: async (query, most) => costliest(added(await apps({ query, most: all }), ({ name }) => name)).slice(0, most),
    allGroups: async (query, most) => {
      const rows = costliest(added(await groups({ query, most: all }), ({ by, name }) => `${by} ${name}`));
      return (['model', 'outcome', 'app_id'] as const).flatMap((kind) =>
        rows.filter(({ by }) => by === kind).slice(0, most),
      );
    },
    firsts: async (appId, notRefused) => {
      const every = await firsts({ appId, notRefused });
      const some = (pick: (one: Firsts) => boolean) => every.some(pick);
      return { played: some((of) => of.played), refused: some((of) => of.refused), charged: some((of) => of.charged) };
    },
    keys: async (query, most) => {
      const rows = added(await keys({ query, most: all }), (row) => row.key_id);
      return rows.toSorted((a, b) => Number(b.calls - a.calls) || (a.key_id < b.key_id ? -1 : 1)).slice(0, most);
    },
    keySeries: async (query) => inTime(added(await keySeries(query), timeOf)),
  };
}

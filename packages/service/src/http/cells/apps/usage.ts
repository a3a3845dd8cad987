import { z } from 'zod';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import { receiptRowSchema } from '#http/cells/questions/receipt-schema.ts';
import {
  appIdSchema,
  callIdSchema,
  correlationIdSchema,
  countSchema,
  daySchema,
  listOf,
  microsSchema,
  textSchema,
  userIdSchema,
} from '#http/cells/questions/schemas.ts';
import type { AppId, CallId } from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ReceiptRow, UsageReportQuery } from '#calls/usage/queries.ts';
import { type AppUsage, nameOf, RECEIPTS_MAX, receiptOf, type UsageFigures } from '#calls/usage/report.ts';

/** All texts of an address, escaped. */
const BYTES_MAX = 131_072;
/** A person waits for a page. */
const WAIT_MS = 5_000;
/** A cell may read for 20 s, and others may wait for theirs there. */
const REPORT_WAIT_MS = 25_000;
const ROWS_MAX = 10_000;

/** What is before all names, or a name. */
const nameSchema = z.object({ day: z.union([daySchema, z.literal('')]), model: textSchema, userId: textSchema });
const querySchema: z.ZodType<UsageReportQuery> = z.object({
  appId: appIdSchema,
  from: daySchema,
  to: daySchema,
  byDay: z.boolean(),
  byModel: z.boolean(),
  byUser: z.boolean(),
  after: nameSchema,
  most: z.int().min(1).max(ROWS_MAX),
});
const rowSchema = z.object({
  day: daySchema.nullable(),
  model: textSchema.nullable(),
  userId: userIdSchema.nullable(),
  requests: countSchema,
  promptTokens: countSchema,
  completionTokens: countSchema,
  charged: microsSchema,
});

const refusedSchema = z.object({
  code: z.enum(['BAD_REQUEST', 'TOO_MANY_REQUESTS']),
  message: z.string(),
  param: z.string().nullable(),
  retryAfterSeconds: z.int().min(1).max(60).nullable(),
});
type Refused = z.output<typeof refusedSchema>;

/** `POST /cells/usage` asks for a page of an app's usage in that cell. The answer may say why there is none. */
const USAGE = {
  path: '/cells/usage',
  bytesMax: BYTES_MAX,
  waitMs: REPORT_WAIT_MS,
  asked: querySchema,
  answer: z.union([listOf(rowSchema), refusedSchema]),
} satisfies CellQuestion<UsageReportQuery, unknown>;

/**
 * `POST /cells/receipts` asks for the receipts of a call, or those under a correlation id. Without an app, it asks for
 * those of all apps.
 */
const RECEIPTS = {
  path: '/cells/receipts',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({
    appId: appIdSchema.nullable(),
    callId: callIdSchema.nullable(),
    correlationId: correlationIdSchema.nullable(),
  }),
  answer: listOf(receiptRowSchema),
} satisfies CellQuestion<ReceiptsQuery, readonly ReceiptRow[]>;

interface ReceiptsQuery {
  readonly appId: AppId | null;
  readonly callId: CallId | null;
  readonly correlationId: string | null;
}

/** Reads usage and receipts of all cells. */
export function appUsageEverywhere(
  local: AppUsage,
  receiptsHere: (query: ReceiptsQuery) => Promise<readonly ReceiptRow[]>,
  { reader }: EveryCell,
): AppUsage {
  const receipts = reader(RECEIPTS, receiptsHere);
  const pages = reader(USAGE, async (query) => {
    const page = await local.page(query);
    return page instanceof Refusal ? toRefused(page) : page.map(toRow);
  });
  return {
    page: async (query) => {
      const cells = await pages(query);
      const refused = cells.find((cell) => 'code' in cell);
      if (refused !== undefined) return refusalOf(refused);
      return pageOf(
        cells.flatMap((cell) => ('code' in cell ? [] : cell)),
        query.most,
      );
    },
    receipt: async (appId, callId) => {
      const here = await local.receipt(appId, callId);
      if (here !== undefined) return here;
      const [row] = (await receipts({ appId: appId ?? null, callId, correlationId: null })).flat();
      return row && receiptOf(row);
    },
    receipts: async (appId, correlationId) => {
      const rows = (await receipts({ appId: appId ?? null, callId: null, correlationId })).flat();
      const newest = rows.toSorted((one, other) => (one.call_id > other.call_id ? -1 : 1));
      return newest.slice(0, RECEIPTS_MAX).map(receiptOf);
    },
  };
}

/**
 * The first rows of all cells, in the order of reports. What a cell has left out comes after its last row, and so after this page too.
 */
function pageOf(rows: readonly Row[], most: number): readonly UsageFigures[] {
  const byName = new Map<string, UsageFigures>();
  for (const { day, model, userId, ...figures } of rows) {
    const row = { day: day ?? undefined, model: model ?? undefined, userId: userId ?? undefined, ...figures };
    const name = nameInOrder(row);
    const sum = byName.get(name);
    byName.set(name, sum === undefined ? row : bothOf(sum, row));
  }
  const inOrder = [...byName].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return inOrder.slice(0, most).map(([, row]) => row);
}

type Row = z.output<typeof rowSchema>;

/** Compares as the three parts do, one after the other: nothing in them sorts before the character between them. */
function nameInOrder(row: UsageFigures): string {
  const { day, model, userId } = nameOf(row);
  return `${day}\0${model}\0${userId}`;
}

function bothOf(one: UsageFigures, other: UsageFigures): UsageFigures {
  return {
    ...one,
    requests: one.requests + other.requests,
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    charged: micros(one.charged + other.charged),
  };
}

function toRefused({ code, message, detail }: Refusal<Refused['code']>): Refused {
  return { code, message, param: detail.param ?? null, retryAfterSeconds: detail.retryAfterSeconds ?? null };
}

function refusalOf({ code, message, param, retryAfterSeconds }: Refused): Refusal<Refused['code']> {
  return refuse(code, message, {
    ...(param !== null && { param }),
    ...(retryAfterSeconds !== null && { retryAfterSeconds }),
  });
}

function toRow({ day, model, userId, ...figures }: UsageFigures): Row {
  return { day: day ?? null, model: model ?? null, userId: userId ?? null, ...figures };
}

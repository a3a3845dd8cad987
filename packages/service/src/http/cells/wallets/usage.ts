import { z } from 'zod';
import type { FormerAnswer, FormerCells, User } from '#http/cells/wallets/former-cells.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import { receiptRowSchema } from '#http/cells/questions/receipt-schema.ts';
import {
  appIdSchema,
  callIdSchema,
  countSchema,
  listOf,
  maybe,
  microsSchema,
  monthSchema,
  userIdSchema,
} from '#http/cells/questions/schemas.ts';
import type { CallId } from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';
import type { ReceiptRow } from '#calls/usage/queries.ts';
import { receiptOf } from '#calls/usage/report.ts';
import type { CallUsage, ModelUsage, UsageReader } from '#calls/usage/usage.ts';

/** A caller of the data plane waits for it. */
const WAIT_MS = 5_000;
const BYTES_MAX = 1_024;
/** The calls of a page of movements. */
const CALLS_MAX = 1_000;
const CALLS_BYTES_MAX = 65_536;

export const giversSchema = z.array(z.string().max(32)).max(1_000);

/** `POST /cells/user-receipt` asks for the receipt of a call that this user made in that cell. */
export const USER_RECEIPT: CellQuestion<User & { readonly callId: CallId }, FormerAnswer<ReceiptRow | null>> = {
  path: '/cells/user-receipt',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({ appId: appIdSchema, userId: userIdSchema, callId: callIdSchema }),
  answer: z.object({ found: receiptRowSchema.nullable(), givers: giversSchema }),
};

/** `POST /cells/user-month` asks what this user spent in that cell in a UTC month. */
export const USER_MONTH: CellQuestion<User & { readonly month: string }, FormerAnswer<readonly ModelUsage[]>> = {
  path: '/cells/user-month',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({ appId: appIdSchema, userId: userIdSchema, month: monthSchema }),
  answer: z.object({
    found: z.array(
      z.object({
        model: z.string(),
        requests: countSchema,
        promptTokens: countSchema,
        completionTokens: countSchema,
        charged: microsSchema,
      }),
    ),
    givers: giversSchema,
  }),
};

/** `POST /cells/user-calls` asks for model and tokens of calls that this user made in that cell. */
export const USER_CALLS: CellQuestion<
  User & { readonly calls: readonly CallId[] },
  FormerAnswer<readonly OneCall[]>
> = {
  path: '/cells/user-calls',
  bytesMax: CALLS_BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({
    appId: appIdSchema,
    userId: userIdSchema,
    calls: listOf(callIdSchema).check(z.maxLength(CALLS_MAX)),
  }),
  answer: z.object({
    found: listOf(
      z.object({
        callId: callIdSchema,
        model: maybe(z.string()),
        promptTokens: countSchema,
        completionTokens: countSchema,
        isLate: z.boolean(),
        session: maybe(z.string()),
      }),
    ),
    givers: giversSchema,
  }),
};

type OneCall = CallUsage & { readonly callId: CallId };

/** The usage of users also where they were before. Whether somebody may see it, the cell decides in which they are. */
export function usageEverywhere(local: UsageReader, former: FormerCells): UsageReader {
  return {
    ofCalls: async (wallet, calls) => {
      const here = await local.ofCalls(wallet, calls);
      const others = calls.filter((callId) => !here.has(callId));
      if (others.length === 0) return here;
      const { appId, userId } = wallet;
      const before = await former.ask(USER_CALLS, { appId, userId, calls: others });
      return new Map([...here, ...before.flat().map(({ callId, ...usage }) => [callId, usage] as const)]);
    },
    ofMonth: async (wallet, month) => {
      const { appId, userId } = wallet;
      const here = await local.ofMonth(wallet, month);
      const before = await former.ask(USER_MONTH, { appId, userId, month });
      return before.length === 0 ? here : sumsOf([here, ...before]);
    },
    receipt: async (appId, userId, callId) => {
      const here = await local.receipt(appId, userId, callId);
      if (here !== undefined) return here;
      const rows = await former.ask(USER_RECEIPT, { appId, userId, callId });
      const row = rows.find((one) => one !== null);
      return row && receiptOf(row);
    },
    sessions: local.sessions,
  };
}

/** Returns the sums by model, sorted by the name of the model. */
function sumsOf(usages: readonly (readonly ModelUsage[])[]): readonly ModelUsage[] {
  const byModel = new Map<string, ModelUsage>();
  for (const usage of usages.flat()) {
    const { model } = usage;
    const sum = byModel.get(model);
    byModel.set(model, sum === undefined ? usage : bothOf(sum, usage));
  }
  return [...byModel.values()].toSorted((one, other) => (one.model < other.model ? -1 : 1));
}

function bothOf(one: ModelUsage, other: ModelUsage): ModelUsage {
  return {
    model: one.model,
    requests: one.requests + other.requests,
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    charged: micros(one.charged + other.charged),
  };
}

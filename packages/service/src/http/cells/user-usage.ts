import { z } from 'zod';
import type { CellClient } from '#cells/cell-client.ts';
import type { OtherCell } from '#cells/map.ts';
import type { FormerAnswer, FormerCells } from '#http/cells/former-cells.ts';
import { askCell, type CellQuestion } from '#http/cells/question.ts';
import { receiptRowSchema } from '#http/cells/receipts.ts';
import { appIdSchema, callIdSchema, countSchema, microsSchema, monthSchema, userIdSchema } from '#http/cells/wire.ts';
import type { AppId, CallId, EndUserId } from '#kernel/ids.ts';
import { micros } from '#kernel/micros.ts';
import type { ReceiptRow } from '#usage/queries.ts';
import { receiptOf } from '#usage/report.ts';
import type { ModelUsage, UsageReader } from '#usage/usage.ts';

/** A caller of the data plane waits for it. */
const WAIT_MS = 5_000;
const BYTES_MAX = 1_024;

interface User {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

const giversSchema = z.array(z.string().max(32)).max(1_000);

/** `POST /cells/user-receipt`: the receipt of a call that this user made in that cell. */
export const USER_RECEIPT: CellQuestion<User & { readonly callId: CallId }, FormerAnswer<ReceiptRow | null>> = {
  path: '/cells/user-receipt',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({ appId: appIdSchema, userId: userIdSchema, callId: callIdSchema }),
  answer: z.object({ found: receiptRowSchema.nullable(), givers: giversSchema }),
};

/** `POST /cells/user-month`: what this user spent in that cell in a UTC month. */
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

/** The usage of users also where they were before. Whether somebody may see it, the cell decides in which they are. */
export function usageEverywhere(local: UsageReader, former: FormerCells, client: CellClient): UsageReader {
  const ask =
    <Asked, Answer>(question: CellQuestion<Asked, Answer>, asked: Asked) =>
    (cell: OtherCell) =>
      askCell(client, cell, question, asked);
  return {
    ...local,
    ofMonth: async (wallet, month) => {
      const { appId, userId } = wallet;
      const here = await local.ofMonth(wallet, month);
      const before = await former.ask(wallet, ask(USER_MONTH, { appId, userId, month }));
      return before.length === 0 ? here : sumsOf([here, ...before]);
    },
    receipt: async (appId, userId, callId) => {
      const here = await local.receipt(appId, userId, callId);
      if (here !== undefined) return here;
      const rows = await former.ask({ appId, userId }, ask(USER_RECEIPT, { appId, userId, callId }));
      const row = rows.find((one) => one !== null);
      return row && receiptOf(row);
    },
  };
}

/** By model, in their order. */
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

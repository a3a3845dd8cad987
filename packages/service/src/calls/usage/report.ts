import { type Pool, sqlStateOf } from '#db/pool/pool.ts';
import { isoOf } from '#kernel/time/clock.ts';
import type { AppId, CallId, EndUserId } from '#kernel/values/ids.ts';
import { type Micros, micros, microsFromRow } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { createConcurrencyLimit } from '#kernel/work/concurrency-limit.ts';
import {
  type RareCounts,
  type ReceiptPriceDetails,
  type ReceiptRow,
  selectAppUsage,
  selectArchivedUntil,
  selectReceipt,
  selectReceiptsByCorrelation,
  type UsageReportQuery,
  type UsageRow,
  type UsageRowName,
} from '#calls/usage/queries.ts';

/** One row of a report. Fields that it is not grouped by are undefined. */
export interface UsageFigures {
  readonly day: string | undefined;
  readonly model: string | undefined;
  readonly userId: EndUserId | undefined;
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly charged: Micros;
}

/** The receipt of one call. Contains nothing of prompts or answers. */
export interface CallReceipt {
  readonly appId: AppId;
  readonly callId: CallId;
  readonly correlationId: string | undefined;
  readonly userId: EndUserId;
  /** The resolved identifier. Undefined when the process of the call died. */
  readonly model: string | undefined;
  readonly atMs: number;
  readonly outcome: ReceiptRow['outcome'];
  readonly isEstimated: boolean;
  readonly tokens: {
    readonly prompt: number;
    readonly cached: number;
    readonly cacheWrite: number;
    readonly completion: number;
    readonly reasoning: number;
  } & Omit<RareCounts, 'searches'>;
  /** Searches of the web that the provider made. Undefined if there were none. */
  readonly searches: number | undefined;
  /** The price that was in force when the call began. */
  readonly price: ReceiptPrice | undefined;
  /** Who served the call. For operators only (CC-21). Undefined of old calls, and if the process of the call died. */
  readonly upstream: { readonly provider: string; readonly providerModel: string } | undefined;
  readonly held: Micros;
  readonly charged: Micros;
  readonly released: Micros;
  /**
   * The call was charged after its hold had been released, because the gateway that answered was cut off (WA-10). Its
   * wallet paid what it could. It is undefined for an ordinary charge.
   */
  readonly late?: true;
  /** The session that its client named (CP-19). Absent if it named none, or the session is not kept any more. */
  readonly session?: string;
  /** The wire by which a call of a session came. */
  readonly wire?: string;
}

/** The price that a receipt was charged at, so that its owner can recompute the charge. */
interface ReceiptPrice extends ReceiptPriceDetails {
  /** Grows with every price change of any model. */
  readonly version: number;
  readonly inputMicrosPerMillion: number;
  readonly cachedInputMicrosPerMillion: number;
  readonly cacheWriteMicrosPerMillion: number;
  readonly outputMicrosPerMillion: number;
  readonly marginBasisPoints: number;
  /** The margin of each call in micros. It is undefined if the price has none. */
  readonly marginMicrosPerCall?: number;
}

/** Reads usage and receipts of one app's users, for its owner (CP-04). */
export interface AppUsage {
  /** Returns the page of the report after `query.after`, ordered by day, model and user. */
  readonly page: (
    query: UsageReportQuery,
  ) => Promise<readonly UsageFigures[] | Refusal<'BAD_REQUEST' | 'TOO_MANY_REQUESTS'>>;
  /** Reads the receipt of a call. Only operators may leave the app out, here and below. */
  readonly receipt: (appId: AppId | undefined, callId: CallId) => Promise<CallReceipt | undefined>;
  /** Receipts under one correlation id, newest first, at most 100. */
  readonly receipts: (appId: AppId | undefined, correlationId: string) => Promise<readonly CallReceipt[]>;
}

/** The receipts that are shown under one correlation id. */
export const RECEIPTS_MAX = 100;
/** How many reports a process makes at once. Each has a connection of its own: nothing else waits behind a report. */
export const REPORTS_MAX = 1;
export const REPORT_STATEMENT_MS_MAX = 20_000;
const REPORTS_WAITING_MAX = 21;
const RETRY_SECONDS = 5;
/** The SQLSTATE of a statement that exceeded its time limit (`query_canceled`). */
const TIMED_OUT = '57014';

interface AppUsagePools {
  readonly planes: Pool;
  /** A pool of its own, for statements that read a lot. */
  readonly reports: Pool;
}

/** Creates the reader. Reports run on connections of their own and are limited in number, because one may read very many rows. */
export function createAppUsage({ planes, reports }: AppUsagePools): AppUsage {
  const reportLimit = createConcurrencyLimit({ runningMax: REPORTS_MAX, waitingMax: REPORTS_WAITING_MAX });
  return {
    page: async (query) => {
      const { after, from } = query;
      // Days before the last reported row are finished: later pages need not read them again.
      const asked = { ...query, from: after.day > from ? after.day : from };
      const until = await selectArchivedUntil(planes);
      if (until !== undefined && asked.from <= isoOf(until.getTime()).slice(0, 10)) return tooOld(until);
      try {
        const rows = await reportLimit.run(() => selectAppUsage(reports, asked));
        return rows === undefined ? tooManyReports() : rows.map(figuresOf);
      } catch (fault) {
        if (sqlStateOf(fault) !== TIMED_OUT) throw fault;
        return refuse('BAD_REQUEST', 'The report covers too much data. Request fewer days.', { param: 'from' });
      }
    },
    receipt: async (appId, callId) => {
      const row = await selectReceipt(planes, appId, callId);
      return row === undefined ? undefined : receiptOf(row);
    },
    receipts: async (appId, correlationId) =>
      (await selectReceiptsByCorrelation(planes, appId, correlationId, RECEIPTS_MAX)).map(receiptOf),
  };
}

/** A report that left out what is in an archive would be wrong and not say so. */
export function tooOld(until: Date): Refusal<'BAD_REQUEST'> {
  const day = isoOf(until.getTime()).slice(0, 10);
  return refuse('BAD_REQUEST', `Calls up to ${day} are archived. Request days after it.`, { param: 'from' });
}

/** A report takes seconds, so only a few may wait. Further ones are refused at once. */
function tooManyReports(): Refusal<'TOO_MANY_REQUESTS'> {
  return refuse('TOO_MANY_REQUESTS', 'Too many reports are being prepared right now. Try again in a few seconds.', {
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/** The name of a row, after which the next page begins. */
export function nameOf(row: Partial<UsageFigures>): UsageRowName {
  return { day: row.day ?? '', model: row.model ?? '', userId: row.userId ?? '' };
}

/** Counts stay far below 2^53, so numbers hold them exactly. */
function figuresOf(row: UsageRow): UsageFigures {
  return {
    day: row.day ?? undefined,
    model: row.model ?? undefined,
    userId: row.user_id ?? undefined,
    requests: Number(row.requests),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    charged: microsFromRow(row.charged_micros),
  };
}

/** Returns the receipt of a row. `released` is computed from the other two, so that the three always add up. */
export function receiptOf(row: ReceiptRow): CallReceipt {
  const held = microsFromRow(row.held_micros);
  const charged = microsFromRow(row.charged_micros);
  const { searches, ...rareTokens } = row.rare_counts ?? {};
  const { provider, provider_model: providerModel } = row;
  return {
    appId: row.app_id,
    callId: row.call_id,
    correlationId: row.correlation_id ?? undefined,
    userId: row.user_id,
    model: row.model ?? undefined,
    atMs: row.settled_at.getTime(),
    outcome: row.outcome,
    isEstimated: row.is_estimated,
    tokens: {
      prompt: Number(row.prompt_tokens),
      cached: Number(row.cached_tokens),
      cacheWrite: Number(row.cache_write_tokens),
      completion: Number(row.completion_tokens),
      reasoning: Number(row.reasoning_tokens),
      ...rareTokens,
    },
    searches,
    price: priceOf(row),
    upstream: provider === null || providerModel === null ? undefined : { provider, providerModel },
    held,
    charged,
    released: micros(held - charged),
    ...(row.is_late && { late: true }),
    ...(row.session !== null && { session: row.session }),
    ...(row.wire !== null && { wire: row.wire }),
  };
}

/** Returns undefined for a call whose process died, because it was never priced. */
function priceOf(row: ReceiptRow): ReceiptPrice | undefined {
  if (row.price_id === null) return undefined;
  const marginMicrosPerCall = Number(row.margin_micros_per_call ?? 0n);
  return {
    version: Number(row.price_id),
    inputMicrosPerMillion: Number(row.input_micros_per_million),
    cachedInputMicrosPerMillion: Number(row.cached_input_micros_per_million),
    cacheWriteMicrosPerMillion: Number(row.cache_write_micros_per_million),
    outputMicrosPerMillion: Number(row.output_micros_per_million),
    marginBasisPoints: Number(row.margin_basis_points),
    ...(marginMicrosPerCall === 0 ? {} : { marginMicrosPerCall }),
    ...row.details,
  };
}

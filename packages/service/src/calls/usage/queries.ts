import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, CallId, EndUserId } from '#kernel/values/ids.ts';

/** One model's share of a wallet's month. */
interface ModelUsageRow {
  readonly model: string;
  readonly requests: bigint;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly charged_micros: bigint;
}

/** Sums a wallet's usage in a UTC month by model. Only calls that were answered or abandoned count; failed ones cost nothing. */
export async function selectMonthByModel(
  db: Queryable,
  walletId: bigint,
  month: string,
): Promise<readonly ModelUsageRow[]> {
  const { rows } = await db.query<ModelUsageRow>(
    `select model, count(*) as requests, sum(prompt_tokens)::bigint as prompt_tokens,
       sum(completion_tokens)::bigint as completion_tokens, sum(charged_micros)::bigint as charged_micros
     from usage.calls
     where wallet_id = $1 and month = $2 and outcome in ('answered', 'abandoned')
     group by model
     order by model`,
    [walletId, month],
  );
  return rows;
}

/** One call's usage. `model` is null when the process of the call died. */
interface CallUsageRow {
  readonly call_id: CallId;
  readonly model: string | null;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly is_late: boolean;
  readonly session: string | null;
}

/** Reads the usage of single calls. Calls of other wallets are left out. */
export async function selectCallsOfWallet(
  db: Queryable,
  walletId: bigint,
  calls: readonly CallId[],
): Promise<readonly CallUsageRow[]> {
  const { rows } = await db.query<CallUsageRow>(
    `select c.call_id, c.model, c.prompt_tokens, c.completion_tokens, l.receipt_id is not null as is_late,
       s.name as session
     from unnest($2::uuid[]) q (call_id)
     cross join lateral (select * from usage.calls k where k.call_id = q.call_id offset 0) c
     left join usage.late_receipts l on l.receipt_id = c.call_id
     left join usage.session_calls n on n.call_id = c.call_id
     left join usage.sessions s on s.session_id = n.session_id
     where c.wallet_id = $1`,
    [walletId, calls],
  );
  return rows;
}

/** One row of a report, as `usage.report` returns it. */
export interface UsageRow {
  /** The day. It is null when the report is not grouped by it. The same holds for `model` and `user_id`. */
  readonly day: string | null;
  readonly model: string | null;
  readonly user_id: EndUserId | null;
  readonly requests: bigint;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly charged_micros: bigint;
}

/** Identifies a row of a report by its group. '' stands for what the report is not grouped by. */
export interface UsageRowName {
  readonly day: string;
  readonly model: string;
  readonly userId: string;
}

/** What a page of a report covers. `most` bounds its rows. */
export interface UsageReportQuery {
  readonly appId: AppId;
  /** The range in UTC days. `to` is exclusive. */
  readonly from: string;
  readonly to: string;
  readonly byDay: boolean;
  readonly byModel: boolean;
  readonly byUser: boolean;
  readonly after: UsageRowName;
  readonly most: number;
}

/** When the last call ended whose receipt is in an archive and not here. Undefined if there is none. */
export async function selectArchivedUntil(db: Queryable): Promise<Date | undefined> {
  const { rows } = await db.query<{ until: Date | null }>(`select usage.archived_until() as until`);
  return rows[0]?.until ?? undefined;
}

/**
 * Reads a page of an app's usage, by the UTC day on which calls ended, ordered by day, model and user. Pages continue after
 * a row's name instead of at an offset, so rows that appear meanwhile shift nothing.
 */
export async function selectAppUsage(db: Queryable, query: UsageReportQuery): Promise<readonly UsageRow[]> {
  const { rows } = await db.query<UsageRow>(`select * from usage.report($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, [
    query.appId,
    query.from,
    query.to,
    query.byDay,
    query.byModel,
    query.byUser,
    query.after.day,
    query.after.model,
    query.after.userId,
    query.most,
  ]);
  return rows;
}

/** A row of `usage.receipts`. Without a model and a price, the process of the call died before it was settled. */
export interface ReceiptRow {
  readonly app_id: AppId;
  readonly call_id: CallId;
  readonly correlation_id: string | null;
  readonly user_id: EndUserId;
  readonly model: string | null;
  readonly settled_at: Date;
  readonly outcome: 'answered' | 'abandoned' | 'failed' | 'expired';
  readonly is_estimated: boolean;
  readonly prompt_tokens: bigint;
  readonly cached_tokens: bigint;
  readonly cache_write_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly held_micros: bigint;
  readonly charged_micros: bigint;
  readonly price_id: bigint | null;
  readonly input_micros_per_million: bigint | null;
  readonly cached_input_micros_per_million: bigint | null;
  readonly cache_write_micros_per_million: bigint | null;
  readonly output_micros_per_million: bigint | null;
  readonly margin_basis_points: number | null;
  readonly margin_micros_per_call: bigint | null;
  readonly details: ReceiptPriceDetails | null;
  /** Who served the call. Null if it has no price, or one from before prices named their upstream. */
  readonly provider: string | null;
  readonly provider_model: string | null;
  readonly rare_counts: RareCounts | null;
  readonly is_late: boolean;
  readonly session: string | null;
  readonly wire: string | null;
}

/** Counts that few calls have. A count of 0 is left out. */
export interface RareCounts {
  readonly cacheWriteLong?: number;
  readonly audioInput?: number;
  readonly imageInput?: number;
  readonly audioOutput?: number;
  readonly imageOutput?: number;
  readonly searches?: number;
}

/** What few prices have, as the catalogue spells it. */
export interface ReceiptPriceDetails {
  readonly cacheWriteLongMicrosPerMillion?: number;
  readonly audioInputMicrosPerMillion?: number;
  readonly imageInputMicrosPerMillion?: number;
  readonly reasoningMicrosPerMillion?: number;
  readonly audioOutputMicrosPerMillion?: number;
  readonly imageOutputMicrosPerMillion?: number;
  readonly microsPerCall?: number;
  readonly microsPerSearch?: number;
  readonly tiers?: ReceiptTier[];
}

/** Prices of calls with longer prompts. */
interface ReceiptTier extends Omit<ReceiptPriceDetails, 'microsPerCall' | 'microsPerSearch' | 'tiers'> {
  readonly aboveInputTokens: number;
  readonly inputMicrosPerMillion: number;
  readonly cachedInputMicrosPerMillion?: number;
  readonly cacheWriteMicrosPerMillion?: number;
  readonly outputMicrosPerMillion: number;
}

/** Finds the receipt of one call. Undefined when the call is another app's or still runs. `appId` undefined: of any app. */
export async function selectReceipt(
  db: Queryable,
  appId: AppId | undefined,
  callId: CallId,
): Promise<ReceiptRow | undefined> {
  const { rows } = await db.query<ReceiptRow>(`select * from usage.receipts($1, $2, null, 1)`, [appId ?? null, callId]);
  return rows[0];
}

/** Finds receipts by the caller's correlation id, newest first. `appId` undefined: of all apps. */
export async function selectReceiptsByCorrelation(
  db: Queryable,
  appId: AppId | undefined,
  correlationId: string,
  most: number,
): Promise<readonly ReceiptRow[]> {
  const values = [appId ?? null, correlationId, most];
  const { rows } = await db.query<ReceiptRow>(`select * from usage.receipts($1, null, $2, $3)`, values);
  return rows;
}

/** A receipt as a person gets it with all that is kept about them. */
export interface OwnReceiptRow {
  readonly call_id: CallId;
  readonly correlation_id: string | null;
  readonly model: string | null;
  readonly settled_at: Date;
  readonly outcome: ReceiptRow['outcome'];
  readonly is_estimated: boolean;
  readonly prompt_tokens: bigint;
  readonly cached_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly held_micros: bigint;
  readonly charged_micros: bigint;
  readonly seq: bigint | null;
  /** The call that this receipt charges late (WA-10), as its caller knows it. Null for an ordinary receipt. */
  readonly late_for: CallId | null;
}

const OWN_RECEIPT = `call_id, correlation_id, model, settled_at, outcome, is_estimated, prompt_tokens, cached_tokens,
  completion_tokens, reasoning_tokens, held_micros, charged_micros, seq,
  (select l.call_id from usage.late_receipts l where l.receipt_id = calls.call_id) as late_for`;

/** Receipts that are entries of the wallet, before a number, the newest first. By the index of entries. */
export async function selectChargedReceipts(
  db: Queryable,
  walletId: bigint,
  before: bigint,
  most: number,
): Promise<readonly OwnReceiptRow[]> {
  const { rows } = await db.query<OwnReceiptRow>(
    `select ${OWN_RECEIPT} from usage.calls where wallet_id = $1 and seq < $2 order by seq desc limit $3`,
    [walletId, before, most],
  );
  return rows;
}

/** The month after this one in which a wallet has receipts, as a day. Undefined if there is none. */
export async function selectMonthAfter(db: Queryable, walletId: bigint, month: string): Promise<string | undefined> {
  const { rows } = await db.query<{ month: string | null }>(
    `select min(month)::text as month from usage.calls where wallet_id = $1 and month > $2::date`,
    [walletId, month],
  );
  return rows[0]?.month ?? undefined;
}

/** Receipts of a month that are no entries: calls that cost nothing, and the few that a wallet could pay only in part. */
export async function selectOtherReceipts(
  db: Queryable,
  {
    walletId,
    month,
    after,
    most,
  }: {
    readonly walletId: bigint;
    readonly month: string;
    /** Calls after this one. Their ids are in the order of time. */
    readonly after: CallId | undefined;
    readonly most: number;
  },
): Promise<readonly OwnReceiptRow[]> {
  const { rows } = await db.query<OwnReceiptRow>(
    `select ${OWN_RECEIPT} from usage.calls
     where wallet_id = $1 and month = $2::date and seq is null and ($3::uuid is null or call_id > $3)
     order by call_id limit $4`,
    [walletId, month, after ?? null, most],
  );
  return rows;
}

import { assert } from '#kernel/faults/assert.ts';
import type { AppId, CallId, EndUserId, KeyId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';

/**
 * Why a hold was refused. `cap_race_lost`, `balance_race_lost` and `budget_race_lost`: only the holds of other running calls
 * stand in the way, of the cap, of the balance or of the budget of the API key (WA-03, WA-13, CP-08). `budget_elsewhere`: what is left of that
 * budget may be in a cell that does not answer. `user_elsewhere`: the user is given to another cell.
 */
export type HoldRefusalReason =
  | 'stream_limit'
  | 'call_limit'
  | 'payment_required'
  | 'wallet_suspended'
  | 'cap_reached'
  | 'cap_race_lost'
  | 'balance_race_lost'
  | 'budget_reached'
  | 'budget_race_lost'
  | 'budget_elsewhere'
  | 'user_elsewhere';

/** What a call asks of a wallet, real or fake, before it reaches a provider. */
export interface HoldRequest {
  readonly callId: CallId;
  readonly appId: AppId;
  readonly userId: EndUserId;
  /** The smallest hold worth having: the call is refused below it. At least 1. */
  readonly least: Micros;
  /** The most that the call can cost. Granted as far as balance and cap allow, see `db/holds/granted_hold.sql`. */
  readonly most: Micros;
  /** How many streams the user may have open, this one included; 0 for a plain call. */
  readonly streamsMax: number;
  /** How many plain calls the user may have running, this one included; 0 or none: any number (CC-18). */
  readonly callsMax?: number;
  /** The idempotency key of the call. It is undefined if no later call can be a retry of this one (CC-14). */
  readonly idempotencyKey?: HoldKey | undefined;
  /** The monthly budget of the API key. Undefined if it has none, as nearly every key (CP-08). */
  readonly budget?: KeyBudget | undefined;
}

/** The most that calls with the keys of one line may be charged and hold in a calendar month. */
export interface KeyBudget {
  /** The first key of the line: a key and those that succeeded it count together. */
  readonly key: KeyId;
  readonly micros: Micros;
}

/** The idempotency key of a hold: keyed digests, see `idempotency`. */
interface HoldKey {
  readonly digest: Buffer;
  readonly body: Buffer;
  /** The call may be a retry, so an earlier call with the same key comes before a hold of its own. */
  readonly joins: boolean;
  /** The earlier call that this one waits for already. */
  readonly joined?: CallId;
}

/**
 * A call with the same idempotency key came first, and nothing was set aside. `running`: it still runs. `kept`: its answer
 * can be replayed. `conflict`: it had another body.
 */
export interface EarlierCall {
  readonly kind: 'earlier';
  readonly state: 'running' | 'kept' | 'conflict';
  readonly callId: CallId;
}

/** The field `granted` is what was set aside, between `least` and `most`. */
export type HoldAnswer =
  | { readonly kind: 'granted'; readonly granted: Micros }
  | { readonly kind: 'refused'; readonly reason: HoldRefusalReason }
  | EarlierCall;

/** The database's word for each state of an earlier call. */
const STATE_OF = {
  attempt_running: 'running',
  attempt_kept: 'kept',
  attempt_conflict: 'conflict',
} as const;

/** A hold's answer as the database gives it. `earlier` is null unless the outcome is the state of an earlier call. */
export type HoldRow = { readonly call_id: CallId; readonly granted: bigint } & (
  | { readonly outcome: 'granted' | HoldRefusalReason; readonly earlier: null }
  | { readonly outcome: keyof typeof STATE_OF; readonly earlier: CallId }
);

export function holdAnswerOf(row: HoldRow, asked: Pick<HoldRequest, 'least' | 'most'> | undefined): HoldAnswer {
  const { granted } = row;
  if (row.outcome === 'granted') {
    assert(
      asked !== undefined && granted >= asked.least && granted <= asked.most,
      'a hold is within what was asked for',
    );
    return { kind: 'granted', granted: microsFromRow(granted) };
  }
  assert(granted === 0n, 'a call that is refused holds nothing');
  if (row.earlier !== null) return { kind: 'earlier', state: STATE_OF[row.outcome], callId: row.earlier };
  return { kind: 'refused', reason: row.outcome };
}

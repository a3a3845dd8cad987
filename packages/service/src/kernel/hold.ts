import type { AppId, CallId, EndUserId } from '#kernel/ids.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';

/** Why a hold was placed or not: `cap_race_lost` when only the holds of other calls put this one over the cap (WA-03). */
export type HoldOutcome =
  | 'granted'
  | 'stream_limit'
  | 'payment_required'
  | 'wallet_suspended'
  | 'cap_reached'
  | 'cap_race_lost';

/** What a call asks of a wallet, real or fake, before it reaches a provider. */
export interface HoldRequest {
  readonly callId: CallId;
  readonly appId: AppId;
  readonly userId: EndUserId;
  /** The smallest hold worth having: refused below it. At least 1. */
  readonly least: Micros;
  /** The most that the call can cost. Granted as far as balance and cap allow. */
  readonly most: Micros;
  /** Most streams that the user may have open, this one included; 0 for a call that is no stream. */
  readonly streamsMax: number;
  /** Undefined for a call that nothing can be a retry of (CC-14). */
  readonly idempotencyKey?: HoldKey | undefined;
}

/** Which attempt a hold is: keyed digests, see `attempts`. */
interface HoldKey {
  readonly digest: Buffer;
  readonly body: Buffer;
  /** It may be a retry: an earlier attempt comes before a hold of its own. */
  readonly joins: boolean;
  /** The earlier attempt that it waits for already. */
  readonly joined?: CallId;
}

/** An attempt that came before: it runs, its answer is kept, or it had another body. Nothing was set aside. */
export interface EarlierCall {
  readonly outcome: 'attempt_running' | 'attempt_kept' | 'attempt_conflict';
  readonly earlier: CallId;
}

interface JudgedHold {
  readonly outcome: HoldOutcome;
  /** What was set aside, between `least` and `most`; 0 unless granted. */
  readonly granted: Micros;
}

export type HoldAnswer = JudgedHold | EarlierCall;

/** A hold's answer as the database gives it. */
export type HoldRow = {
  readonly call_id: CallId;
  readonly granted: bigint;
} & ({ readonly outcome: HoldOutcome; readonly earlier: null } | EarlierCall);

export function holdAnswerOf(row: HoldRow): HoldAnswer {
  if (row.earlier === null) return { outcome: row.outcome, granted: microsFromRow(row.granted) };
  return { outcome: row.outcome, earlier: row.earlier };
}

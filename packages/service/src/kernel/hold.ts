import type { AppId, CallId, EndUserId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';

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
}

export interface HoldAnswer {
  readonly outcome: HoldOutcome;
  /** What was set aside, between `least` and `most`; 0 unless granted. */
  readonly granted: Micros;
}

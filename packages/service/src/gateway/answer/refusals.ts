import type { HoldRefusalCode } from '#gateway/call/lane.ts';
import { unreachable } from '#kernel/faults/assert.ts';
import type { HoldRefusalReason } from '#kernel/calls/hold.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

const STREAM_RETRY_SECONDS = 1;
const CALL_RETRY_SECONDS = 1;
const ELSEWHERE_RETRY_SECONDS = 1;
/** Money on hold is free again as soon as the calls that hold it end. */
const HELD_RETRY_SECONDS = 1;

/** Where the user of a refused call can mend it: by paying, or by raising the cap first (WA-03). */
interface RefusalLinks {
  readonly topup: () => string;
  readonly cap: () => string;
}

/**
 * The refusal of a hold. A missing wallet, a disconnected one and an empty one give the same answer, word for word, so that
 * an app cannot find out whether a wallet exists (WA-02).
 */
export function refusalOfHold(reason: HoldRefusalReason, links: RefusalLinks): Refusal<HoldRefusalCode> {
  switch (reason) {
    case 'stream_limit':
      return refuse('CONCURRENT_STREAM_LIMIT', 'This user already has as many open streams as are allowed at a time.', {
        retryAfterSeconds: STREAM_RETRY_SECONDS,
      });
    case 'call_limit':
      return tooManyCalls('This user');
    case 'payment_required':
      return paymentRequired(links.topup());
    case 'wallet_suspended':
      return refuse('WALLET_SUSPENDED', 'The wallet of this user is blocked for this app. Contact support.');
    case 'cap_reached':
      return refuse('APP_SPEND_CAP_EXCEEDED', CAP_MESSAGE, { topupUrl: links.cap() });
    case 'cap_race_lost':
      return refuse('APP_SPEND_CAP_EXCEEDED', CAP_HELD_MESSAGE, { retryAfterSeconds: HELD_RETRY_SECONDS });
    case 'balance_race_lost':
      return refuse('PAYMENT_REQUIRED', PAYMENT_MESSAGE, {
        topupUrl: links.topup(),
        retryAfterSeconds: HELD_RETRY_SECONDS,
      });
    case 'budget_reached':
      return refuse('KEY_BUDGET_EXCEEDED', BUDGET_MESSAGE);
    case 'budget_race_lost':
      return refuse('KEY_BUDGET_EXCEEDED', BUDGET_HELD_MESSAGE, { retryAfterSeconds: HELD_RETRY_SECONDS });
    case 'budget_elsewhere':
      return refuse('TOO_MANY_REQUESTS', BUDGET_ELSEWHERE_MESSAGE, { retryAfterSeconds: ELSEWHERE_RETRY_SECONDS });
    case 'user_elsewhere':
      return userElsewhere();
    default:
      return unreachable(reason);
  }
}

/** The user is in one cell, and just given to another one. Nothing was done, and the request may be sent again. */
export function userElsewhere(): Refusal<'TOO_MANY_REQUESTS'> {
  return refuse('TOO_MANY_REQUESTS', ELSEWHERE_MESSAGE, { retryAfterSeconds: ELSEWHERE_RETRY_SECONDS });
}

/**
 * Refuses more plain calls at once than are allowed (CC-18). `whose` says whether they are calls of the user, or of the
 * app in this process.
 */
export function tooManyCalls(whose: 'This user' | 'This app'): Refusal<'TOO_MANY_REQUESTS'> {
  return refuse('TOO_MANY_REQUESTS', `${whose} already has as many running calls as are allowed at a time.`, {
    retryAfterSeconds: CALL_RETRY_SECONDS,
  });
}

/** A pause is a cap of 0 to the ledger, so the message fits both. */
const CAP_MESSAGE = 'This user has paused spending for this app, or their monthly spend cap for it is reached.';

/** The one message of its code, for every reason: if money is only on hold, the headers alone say that a retry helps (WA-02). */
const PAYMENT_MESSAGE = 'The wallet of this user for this app does not cover the call. Top it up first.';

/** Only calls of this user that run now are in the way, so the app knows of the wallet already (WA-13). */
const CAP_HELD_MESSAGE =
  'What is left of the monthly spend cap of this user for this app is on hold for calls that still run. Try again.';

const ELSEWHERE_MESSAGE =
  'This user is just given to another part of the service. Nothing was charged. Send the request again in a second.';

/** The budget is the app's, so there is nothing that its user could do: no link, and no 402 (CP-08). */
const BUDGET_MESSAGE =
  'What is left of the monthly budget of this API key does not cover the call. The budget begins anew on the first of the next month (UTC). The owner of the app can raise it.';
const BUDGET_HELD_MESSAGE =
  'What is left of the monthly budget of this API key is on hold for calls that still run. Try again.';
const BUDGET_ELSEWHERE_MESSAGE =
  'What is left of the monthly budget of this API key is in a part of the service that does not answer. Nothing was charged. Send the request again in a second.';

export function paymentRequired(topupUrl: string): Refusal<'PAYMENT_REQUIRED'> {
  return refuse('PAYMENT_REQUIRED', PAYMENT_MESSAGE, { topupUrl });
}

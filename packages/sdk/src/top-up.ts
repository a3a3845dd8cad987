import { isPurserError, type PaymentRequiredError } from './errors.ts';
import { guard } from './guard.ts';
import type { Signal } from './platform.ts';
import type { Balance } from './wire.ts';

const WAIT_MS = 600_000;
/** A longer timer would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;
const POLL_MS = 3_000;
const POLL_MS_MIN = 250;

export interface TopUpOptions {
  /** Shows the user where to pay: `error.topupUrl`, which is always set here, unlike on the error itself. */
  readonly onTopUp: (error: PaymentRequiredError & { readonly topupUrl: string }) => unknown;
  /**
   * Resolves when the app itself knows that the money has arrived, for example from a `topup.completed` at its endpoint.
   * Without it, the balance is polled. `signal` fires when nobody waits any more.
   */
  readonly until?: ((error: PaymentRequiredError, signal: Signal) => PromiseLike<unknown>) | undefined;
  /** Ends the wait: the promise is rejected with the signal's reason. */
  readonly signal?: Signal | undefined;
  /** How long to wait for the money, in milliseconds. The default is ten minutes. */
  readonly waitMs?: number | undefined;
  /** The milliseconds between two looks at the balance. The default is 3,000, and the least is 250. */
  readonly pollMs?: number | undefined;
}

/** What the wait needs to know about a user. `PurserUser` supplies it. */
export interface Wallet {
  readonly isSandbox: boolean;
  readonly balance: (options: { readonly signal: Signal }) => Promise<Balance>;
}

/** Runs a call, waits for a top-up if it is refused for want of money, and runs it again, as `PurserUser.withTopUp` says. */
export async function withTopUp<Result>(
  wallet: Wallet,
  call: () => Result | PromiseLike<Result>,
  options: TopUpOptions,
): Promise<Awaited<Result>> {
  const { signal } = options;
  signal?.throwIfAborted();
  let refusal: Refusal;
  try {
    return await guard(call);
  } catch (error) {
    if (!isPurserError(error, 'PaymentRequiredError') || !hasLink(error)) throw error;
    // Play money has no balance that could be polled.
    if (wallet.isSandbox && options.until === undefined) throw error;
    refusal = error;
  }
  const tried = await untilFunded(wallet, refusal, call, options);
  return tried === undefined ? guard(call) : tried.result;
}

type Refusal = PaymentRequiredError & { readonly topupUrl: string };

function hasLink(error: PaymentRequiredError): error is Refusal {
  return error.topupUrl !== undefined;
}

/**
 * Returns when the refused call can be paid, or with its result if it succeeded because other calls had ended. Throws the
 * reason of an abort, or the refusal itself when the time is up.
 */
async function untilFunded<Result>(
  wallet: Wallet,
  refusal: Refusal,
  call: () => Result | PromiseLike<Result>,
  { onTopUp, until, signal, waitMs, pollMs }: TopUpOptions,
): Promise<{ readonly result: Awaited<Result> } | undefined> {
  const over = new AbortController();
  const onAbort = (): void => over.abort(signal?.reason);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort);
  const timer = setTimeout(() => over.abort(refusal), timeOf(waitMs, WAIT_MS));
  const ended = rejection(over.signal);
  const everyMs = Math.max(timeOf(pollMs, POLL_MS), POLL_MS_MIN);
  const begin = async (): Promise<Look | undefined> => {
    const look = until === undefined ? await watch(wallet, refusal, over.signal) : undefined; // Read before the user can pay.
    if (over.signal.aborted) return undefined;
    const told = until?.(refusal, over.signal); // Before `onTopUp`: the user may pay at once.
    told?.then(undefined, () => {}); // Awaited below. Until then, a rejection must not count as unhandled.
    await onTopUp(refusal);
    await told;
    return look;
  };
  try {
    const look = await Promise.race([ended, begin()]);
    const next = async (): Promise<Change> =>
      look === undefined ? 'paid' : Promise.race([ended, nextChange(look, everyMs, over.signal)]);
    while ((await next()) !== 'paid') {
      try {
        return { result: await guard(call) };
      } catch (error) {
        // The same refusal as before: nobody has paid yet, so the wait continues.
        if (!isPurserError(error, 'PaymentRequiredError') || error.code !== refusal.code) throw error;
      }
    }
    return undefined;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    over.abort(); // What is still under way ends.
  }
}

function timeOf(ms: number | undefined, otherwise: number): number {
  return Math.min(ms === undefined || Number.isNaN(ms) ? otherwise : ms, TIMER_MS_MAX);
}

/** What a look at the balance shows. `paid`: the user has paid or raised the cap. `maybe`: the call may succeed anyway. */
type Change = 'paid' | 'maybe' | undefined;
type Look = () => Promise<Change>;

async function nextChange(look: Look, everyMs: number, signal: AbortSignal): Promise<Change> {
  while (!signal.aborted) {
    await pause(everyMs, signal);
    const change = await look();
    if (change !== undefined) return change;
  }
  return undefined;
}

/** Compares each look with the last one, by what the call was refused for: the cap, or else the money. */
async function watch(wallet: Wallet, { code }: Refusal, signal: AbortSignal): Promise<Look> {
  const isCap = code === 'APP_SPEND_CAP_EXCEEDED';
  let before = await seen(wallet, signal);
  return async () => {
    const now = await seen(wallet, signal);
    if (now === undefined) return undefined;
    const last = before;
    before = { ...now, balance: Math.min(now.balance, last?.balance ?? Infinity) };
    if (!now.isActive || (isCap ? now.spent >= now.cap : now.balance <= 0)) return undefined;
    if (last === undefined) return 'maybe';
    if (isCap ? now.cap > last.cap || now.spent < last.spent : now.balance > last.balance) return 'paid';
    // Perhaps the money was only set aside for other calls, and some of it is back.
    return now.reserved < last.reserved ? 'maybe' : undefined;
  };
}

const NOTHING = { balance: 0, reserved: 0, cap: Infinity, spent: 0, isActive: false };

/** Reads the balance. Undefined if it cannot be read now. */
async function seen(wallet: Wallet, signal: AbortSignal): Promise<typeof NOTHING | undefined> {
  try {
    const found = await wallet.balance({ signal });
    return {
      balance: found.balanceMicros,
      reserved: found.reservedMicros,
      cap: found.spendCapMicros ?? Infinity,
      spent: found.spentThisMonthMicros,
      isActive: found.status === 'active',
    };
  } catch (error) {
    if (isPurserError(error, 'PaymentRequiredError')) return NOTHING;
    // Refused for good. Anything else, also a lost connection, may work at the next look.
    if (isPurserError(error, 'ServiceApiError') && error.status < 429) throw error;
    return undefined;
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

/** Resolves after the time. An abort only clears the timer: the caller races this against the abort. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => clearTimeout(timer);
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop);
  });
}

import { isPurserError, type PaymentRequiredError } from './errors.ts';
import { guard } from './guard.ts';
import type { Signal } from './platform.ts';
import type { Balance } from './wire.ts';

const WAIT_MS = 600_000;
/** A timer that is set for longer rings at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;
const POLL_MS = 3_000;

export interface TopUpOptions {
  /** Shows the user the way to pay: `error.topupUrl`. Always there, unlike on the error itself. */
  readonly onTopUp: (error: PaymentRequiredError & { readonly topupUrl: string }) => unknown;
  /**
   * Resolves when the money is there, by the app's own knowledge: a `topup.completed` that its endpoint was sent, say. Without it, the
   * balance is asked for again and again. `signal` fires when it is waited for no more.
   */
  readonly until?: ((error: PaymentRequiredError, signal: Signal) => PromiseLike<unknown>) | undefined;
  /** Gives up: the promise is rejected with the signal's reason. */
  readonly signal?: Signal | undefined;
  /** How long to wait for the money; ten minutes. */
  readonly waitMs?: number | undefined;
  /** How often to ask for the balance; every three seconds. */
  readonly pollMs?: number | undefined;
}

/** What is waited with; the user of `forUser` brings it. */
export interface Wallet {
  readonly isSandbox: boolean;
  readonly balance: (options: { readonly signal: Signal }) => Promise<Balance>;
}

/** See `PurserUser.withTopUp`. */
export async function withTopUp<Result>(
  wallet: Wallet,
  call: () => Result | PromiseLike<Result>,
  options: TopUpOptions,
): Promise<Awaited<Result>> {
  const { signal } = options;
  signal?.throwIfAborted();
  try {
    return await guard(call);
  } catch (error) {
    if (!isPurserError(error, 'PaymentRequiredError') || !hasLink(error)) throw error;
    // Play money has no balance to ask for.
    if (wallet.isSandbox && options.until === undefined) throw error;
    await funded(wallet, error, options);
  }
  return guard(call);
}

function hasLink(error: PaymentRequiredError): error is PaymentRequiredError & { readonly topupUrl: string } {
  return error.topupUrl !== undefined;
}

/** Returns when the wallet has more than before. Throws the reason of the abort, or once time is up the refusal itself. */
async function funded(
  wallet: Wallet,
  error: PaymentRequiredError & { readonly topupUrl: string },
  { onTopUp, until, signal, waitMs = WAIT_MS, pollMs = POLL_MS }: TopUpOptions,
): Promise<void> {
  const over = new AbortController();
  const onAbort = (): void => over.abort(signal?.reason);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort);
  const timer = setTimeout(() => over.abort(error), Math.min(waitMs, TIMER_MS_MAX));
  const work = async (): Promise<void> => {
    const hasGrown = until === undefined ? await watch(wallet, over.signal) : undefined; // Before the user can pay.
    if (over.signal.aborted) return;
    const told = until?.(error, over.signal); // Listens already while the user is asked, who may pay at once.
    told?.then(undefined, () => {}); // It is waited for below.
    await onTopUp(error);
    await told;
    if (hasGrown !== undefined) await repeat(hasGrown, pollMs, over.signal);
  };
  try {
    await Promise.race([work(), rejection(over.signal)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    over.abort(); // What is still under way ends.
  }
}

async function repeat(isOver: () => Promise<boolean>, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(everyMs, signal);
    if (!signal.aborted && (await isOver())) return;
  }
}

/** Tells from look to look whether the wallet can pay for more than at the least it has been seen with. */
async function watch(wallet: Wallet, signal: AbortSignal): Promise<() => Promise<boolean>> {
  let least = await look(wallet, signal);
  return async () => {
    const now = await look(wallet, signal);
    if (now === 'unknown') return false;
    if (least === 'unknown') {
      least = now;
      return false;
    }
    // Not by what is available: that rises whenever a call of the same user ends.
    const hasMore = now.balance > least.balance || now.cap > least.cap || now.spent < least.spent;
    least = { ...now, balance: Math.min(now.balance, least.balance) };
    return hasMore && now.canPay;
  };
}

interface Seen {
  readonly balance: number;
  readonly cap: number;
  readonly spent: number;
  readonly canPay: boolean;
}

const NOTHING: Seen = { balance: 0, cap: Infinity, spent: 0, canPay: false };

async function look(wallet: Wallet, signal: AbortSignal): Promise<Seen | 'unknown'> {
  try {
    const { balanceMicros, spendCapMicros, spentThisMonthMicros, status } = await wallet.balance({ signal });
    const cap = spendCapMicros ?? Infinity;
    return {
      balance: balanceMicros,
      cap,
      spent: spentThisMonthMicros,
      canPay: status === 'active' && balanceMicros > 0,
    };
  } catch (error) {
    if (isPurserError(error, 'PaymentRequiredError')) return NOTHING;
    // Refused for good; anything else, a lost connection too, may be better at the next look.
    if (isPurserError(error, 'ServiceApiError') && error.status < 429) throw error;
    return 'unknown';
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

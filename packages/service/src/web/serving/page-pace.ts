import type { Refusal } from '#kernel/faults/refusal.ts';
import { sleep } from '#kernel/time/sleep.ts';
import type { Pace } from '#limits/pace.ts';

/** How fast pages and forms may be asked for, in each process. */
interface PagePaces {
  /** Forms from one network address. */
  readonly forms: Pace;
  /** Pages for browsers of one network address that are signed in, or say so. */
  readonly addresses: Pace;
  /** Pages for all others of one network address. */
  readonly strangers: Pace;
  /** Pages for one account or wallet owner, at all addresses together. */
  readonly holders: Pace;
}

type TooFast = Refusal<'TOO_MANY_REQUESTS'>;

/**
 * What a browser waits for its refusal. A program that asks again as soon as it is refused would otherwise keep the process as busy with
 * refusals as with pages, and every call behind them.
 */
const HELD_MS = 1_000;
/** More than so many do not wait: each takes some memory. */
const HELD_MAX = 5_000;

export interface PagePace {
  /** Judges a request for a page before anything of it is looked at. Undefined means go on. */
  readonly ofAddress: (address: string, hasToken: boolean) => Promise<TooFast | undefined>;
  /** Judges one that came with a token, when it is known whose it is: nobody's if `name` is undefined. */
  readonly ofHolder: (address: string, name: string | undefined) => Promise<TooFast | undefined>;
  readonly ofForm: (address: string) => TooFast | undefined;
}

export function createPagePace({ forms, addresses, strangers, holders }: PagePaces, heldMs = HELD_MS): PagePace {
  let held = 0;

  async function hold(refusal: TooFast | undefined): Promise<TooFast | undefined> {
    if (refusal === undefined || held >= HELD_MAX) return refusal;
    held += 1;
    await sleep(heldMs);
    held -= 1;
    return refusal;
  }

  return {
    ofAddress: (address, hasToken) => hold((hasToken ? addresses : strangers).take(address)),
    ofHolder: (address, name) => hold(name === undefined ? strangers.take(address) : holders.take(name)),
    ofForm: forms.take,
  };
}

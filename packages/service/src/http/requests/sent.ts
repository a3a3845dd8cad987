import { epochMsOf } from '#kernel/time/clock.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';

/** A moment of a request, which may be left out. */
export function sentMs(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : epochMsOf(moment);
}

/** An amount of a request, which may be left out. */
export function sentAmount(amount: number | undefined): Micros | undefined {
  return amount === undefined ? undefined : micros(BigInt(amount));
}

import { faultName, type CheckResult, warn } from '#doctor/findings/check-result.ts';

/** A check that reaches out of the process. It gives up when the signal says so. */
export type Check<Result> = (signal: AbortSignal) => Promise<Result>;

/**
 * Runs a check for at most `msMax`. A check that takes longer is left alone, and the others go on: the caller ends the process
 * when it has all it wants.
 */
export async function withinTime<Result>(
  check: Check<Result>,
  msMax: number,
): Promise<{ readonly result: Result } | { readonly failure: CheckResult }> {
  const late = Promise.withResolvers<{ readonly failure: CheckResult }>();
  const ending = new AbortController();
  const timer = setTimeout(() => {
    ending.abort();
    late.resolve({ failure: warn(`This check had no result within ${msMax / 1_000} s.`) });
  }, msMax);
  try {
    return await Promise.race([check(ending.signal).then((result) => ({ result })), late.promise]);
  } catch (fault) {
    return { failure: warn(`This check failed: ${faultName(fault)}.`) };
  } finally {
    clearTimeout(timer);
  }
}

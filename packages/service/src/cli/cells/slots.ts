import { rangeOf, SLOTS } from '#kernel/values/slot.ts';
import { UsageError } from '#cli/terminal/command-error.ts';

/** Reads slots as they are written on the command line. Throws `UsageError`. */
export function readSlots(text: string): NonNullable<ReturnType<typeof rangeOf>> {
  const range = rangeOf(text);
  if (range === undefined) throw new UsageError(`Slots are written as 17 or 0-2047, up to ${SLOTS - 1}.`);
  return range;
}

import type { BookKeeper } from './books.ts';
import { poll } from './poll.ts';

/** A peer's books: it charges a while after the answer, so what it does with money is told, and voids nothing. */
interface LateBooks {
  readonly name: string;
  readonly price: number;
  /** Everything that was charged so far, in the unit of the price. */
  readonly readCharged: () => Promise<number>;
  /** The longest time that charges may be on their way. */
  readonly lateMsMax: number;
}

export function lateBooks({ name, price, readCharged, lateMsMax }: LateBooks): BookKeeper {
  return {
    name,
    watch: async () => {
      const before = await readCharged();
      return {
        judge: async (report, { answered, cutOff }) => {
          const { value, tookMs } = await poll(readCharged, (sum) => sum - before >= answered * price, lateMsMax);
          const charged = ((value - before) / price).toFixed(1);
          report.note(
            `${answered} calls were answered, up to ${cutOff} more were cut off; ${(tookMs / 1_000).toFixed(1)} s later ` +
              `${charged} calls were charged.`,
          );
          return undefined;
        },
      };
    },
  };
}

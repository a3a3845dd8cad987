import type { Bench } from '../measure.ts';
import type { BookKeeper, Books } from './books.ts';
import type { Target } from './target.ts';

/** Counts the calls of a measure, for the books that must have charged for them. */
export interface Tally {
  /** Counts calls as `Books.judge` takes them. */
  readonly count: (target: Target, calls: { readonly answered: number; readonly cutOff: number }) => void;
  /** Gives for each target what is wrong with its books: undefined if nothing is, or if it has none. */
  readonly judge: (report: Pick<Bench, 'note'>) => Promise<(target: Target) => string | undefined>;
}

interface Account {
  readonly books: Books;
  answered: number;
  cutOff: number;
}

/** Begins to watch the books of the targets. Targets of one service share them. */
export async function startTally(targets: readonly Target[]): Promise<Tally> {
  const accounts = new Map<BookKeeper, Account>();
  for (const { books } of targets) {
    if (books === undefined || accounts.has(books)) continue;
    accounts.set(books, { books: await books.watch(), answered: 0, cutOff: 0 });
  }
  return {
    count: ({ books }, { answered, cutOff }) => {
      const account = books && accounts.get(books);
      if (account === undefined) return;
      account.answered += answered;
      account.cutOff += cutOff;
    },
    judge: async (report) => {
      const faults = new Map<BookKeeper | undefined, string | undefined>();
      for (const [keeper, { books, ...calls }] of accounts) {
        const named = { note: (text: string) => report.note(`${keeper.name}: ${text}`) };
        faults.set(keeper, await books.judge(named, calls));
      }
      return ({ books }) => faults.get(books);
    },
  };
}

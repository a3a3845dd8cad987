/** What a movement of a processor's balance is about. The others move no money of a wallet. */
export type Subject = 'payment' | 'refund' | 'failed refund' | 'dispute' | 'dispute returned';

/** One movement of a processor's balance. Amounts are micros, negative for money that left. */
export interface Movement {
  /** The line of the file, counted from 1. It is undefined if the movement was read from the processor itself. */
  readonly line: number | undefined;
  /** The processor's id of the movement. */
  readonly transaction: string;
  /** The category in the processor's words, such as `charge`. */
  readonly category: string;
  /**
   * What the movement is about. It is undefined if it moves no money of a wallet, such as a payout or a fee of its own.
   */
  readonly subject: Subject | undefined;
  readonly createdMs: number;
  /** The currency of the balance. `paid` may be in another. */
  readonly currency: string;
  readonly gross: bigint;
  readonly fee: bigint;
  readonly net: bigint;
  /** The charge, refund or dispute. */
  readonly source: string | undefined;
  /** The processor's id of the payment that it belongs to. */
  readonly payment: string | undefined;
  /** What the payer paid or got, never negative: before the processor changed it into the currency of the balance. */
  readonly paid: { readonly amount: bigint; readonly currency: string };
  /**
   * Tells whether the movement is ours. It is false if it names no checkout of ours, so it belongs to other software
   * with the same account. It is undefined if that is not known.
   */
  readonly isOurs: boolean | undefined;
}

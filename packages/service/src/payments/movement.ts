/** What a movement of a processor's balance is about. The others move no money of a wallet. */
export type Subject = 'payment' | 'refund' | 'failed refund' | 'dispute' | 'dispute returned';

/** One movement of a processor's balance. Amounts are micros, negative for money that left. */
export interface Movement {
  /** Of the file, from 1. Undefined if it was read from the processor itself. */
  readonly line: number | undefined;
  /** The processor's id of the movement. */
  readonly transaction: string;
  /** In the processor's words, such as `charge`. */
  readonly category: string;
  /** Undefined: it moves no money of a wallet. A payout or a fee of its own, for example. */
  readonly subject: Subject | undefined;
  readonly createdMs: number;
  /** Of the balance. `paid` may be in another. */
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
  /** False: it names no checkout of ours, so it belongs to other software with the same account. Undefined: not known. */
  readonly isOurs: boolean | undefined;
}

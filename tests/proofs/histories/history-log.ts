// The record of a history: from its clients, its provider, its payments, and at the end from the books. Plain
// facts, so that the model that judges them needs no code of the service.

/** Micros per million tokens, and the margin in hundredths of a percent. */
export interface ModelPrice {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
  readonly marginBasisPoints: number;
  /** The tokens that a hold allows for in addition to the bytes of a prompt. */
  readonly promptOverhead: number;
}

export interface ReportedUsage {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
}

/** What the provider received for one call, and the answer it planned. */
export interface ProviderFacts {
  readonly asked: number;
  /** How it answers: in full, or with a failure of its own. */
  readonly isAnswering: boolean;
  /** The usage that a full answer reports. Undefined if it reports none. */
  readonly usage: ReportedUsage | undefined;
  /** The bytes of everything that it generates. */
  readonly contentBytes: number;
}

/** How a call ended for the client who sent it. */
export type Ending =
  /** Everything arrived: a whole body, or `[DONE]`. */
  | 'complete'
  /** An error answer, or an error frame in a stream. */
  | 'refused'
  /** The connection broke or the client left, so the client cannot know. */
  | 'unknown'
  /** A stream that ended normally without `[DONE]` and without an error. This must never happen. */
  | 'mute';

/** The code of a call by Messages that was refused because its wallet pays for less output than it asked for (WI-10). */
export const LOWERED = 'LIMIT_LOWERED';

export interface CallFacts {
  /** The tag is also the correlation id of the call. */
  readonly tag: string;
  readonly user: string;
  /** The name of its API key. Undefined if that has no budget. */
  readonly key: string | undefined;
  readonly model: string;
  readonly isStream: boolean;
  /** Bytes of the request's body. */
  readonly bodyBytes: number;
  /** Our own count of the prompt. */
  readonly promptTokens: number;
  readonly outputTokensMax: number;
  readonly ending: Ending;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly callId: string | undefined;
  /** The header that names the charge, on plain answers only. */
  readonly charged: number | undefined;
  /** The usage that the client read. */
  readonly usage: ReportedUsage | undefined;
  /** The client left on purpose. */
  readonly hasLeft: boolean;
  /** The longest time that the serving process stood still during the call. */
  readonly stoppedMs: number;
  /**
   * True if the database was down within a few seconds of the call, or its process was killed or stopped. Otherwise
   * nothing disturbed the call.
   */
  readonly isDisturbed: boolean;
}

export type CreditKind = 'top_up' | 'contract_credit' | 'funds_reinstated';
export type TakeKind = 'refund' | 'claw_back';

/** One payment act under one key, sent more than once. */
export interface MoneyAct {
  readonly user: string;
  readonly kind: CreditKind | TakeKind;
  readonly key: string;
  readonly amount: number;
  /** The answers that arrived, in any order, without lost ones. */
  readonly answers: readonly string[];
  readonly lostAnswers: number;
  /** The answers to a send with the same key and another amount. */
  readonly otherAmountAnswers: readonly string[];
}

export interface WalletFacts {
  readonly user: string;
  /** A wallet that always has enough money and is never capped, disconnected or clawed back, so no 402 can be right. */
  readonly isRich: boolean;
  /** The largest cap that was ever in force. Undefined if there was a time without one. */
  readonly capMax: number | undefined;
  readonly wasReinstated: boolean;
}

export interface Receipt {
  readonly callId: string;
  readonly user: string;
  readonly outcome: 'answered' | 'abandoned' | 'failed' | 'expired';
  readonly isEstimated: boolean;
  readonly held: number;
  readonly charged: number;
  readonly correlationId: string | undefined;
  /** The line of keys whose monthly budget it counts for. */
  readonly budgetKey: string | undefined;
  readonly month: string;
  /** The call that this receipt charges after its hold was released. Undefined for the first receipt of a call. */
  readonly lateFor: string | undefined;
}

export interface Entry {
  readonly user: string;
  readonly kind: string;
  readonly cause: string;
  readonly amount: number;
}

export interface WalletRow {
  readonly user: string;
  readonly balance: number;
  readonly held: number;
  readonly shortfall: number;
  readonly isSuspended: boolean;
}

/** A key with a monthly budget (CP-08). */
interface KeyFacts {
  readonly name: string;
  /** The first key of its line: all keys of a line spend one budget. */
  readonly line: string;
  /** Whether the budget is more than all calls of the history cost, so that no refusal for it can be right. */
  readonly isWide: boolean;
  /** What was last set. */
  readonly budget: number;
  /** The largest budget that any key of the line ever had. */
  readonly budgetMax: number;
}

export interface BudgetRow {
  readonly line: string;
  readonly month: string;
  readonly spent: number;
  readonly held: number;
}

/** The books once everything has come to rest. */
export interface Books {
  readonly receipts: readonly Receipt[];
  readonly entries: readonly Entry[];
  readonly wallets: readonly WalletRow[];
  readonly budgets: readonly BudgetRow[];
  readonly holdsLeft: number;
}

export interface HistoryLog {
  readonly prices: Readonly<Record<string, ModelPrice>>;
  readonly wallets: readonly WalletFacts[];
  readonly keys: readonly KeyFacts[];
  readonly calls: readonly CallFacts[];
  readonly provider: ReadonlyMap<string, ProviderFacts>;
  readonly money: readonly MoneyAct[];
  readonly books: Books;
}

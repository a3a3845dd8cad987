// What a history wrote down: by its clients, its provider, its payment side, and at the end read from the books. Plain
// facts, so that the model which judges them needs nothing of the service.

/** Micros per million tokens, and the margin in hundredths of a percent. */
export interface ModelPrice {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
  readonly marginBasisPoints: number;
  /** Tokens beside the bytes of a prompt that its hold allows for. */
  readonly promptOverhead: number;
}

export interface ReportedUsage {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
}

/** What the provider was asked for one call, and what it meant to answer. */
export interface ProviderFacts {
  readonly asked: number;
  /** How it answers: in full, or a failure of its own. */
  readonly isAnswering: boolean;
  /** The usage that a full answer reports; undefined where it reports none. */
  readonly usage: ReportedUsage | undefined;
  /** Bytes of all that it generates. */
  readonly contentBytes: number;
}

/** How a call ended for the client who sent it. */
export type Ending =
  /** Everything came: a whole body, or `[DONE]`. */
  | 'complete'
  /** An error answer, or an error frame in a stream. */
  | 'refused'
  /** The connection broke, or the client left: it cannot know. */
  | 'unknown'
  /** A stream that ended in order without `[DONE]` and without an error: must never be. */
  | 'mute';

export interface CallFacts {
  /** Its correlation id, too. */
  readonly tag: string;
  readonly user: string;
  readonly model: string;
  readonly isStream: boolean;
  /** Bytes of the request's body. */
  readonly bodyBytes: number;
  readonly outputTokensMax: number;
  readonly ending: Ending;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly callId: string | undefined;
  /** The header that names the charge: plain answers only. */
  readonly charged: number | undefined;
  /** The usage that the client read. */
  readonly usage: ReportedUsage | undefined;
  /** The client left on purpose. */
  readonly hasLeft: boolean;
  /** The longest that the process which served it stood still during the call. */
  readonly stoppedMs: number;
  /** The database was down within a few seconds of it, or its process was killed or stopped. */
  readonly isDisturbed: boolean;
}

export type CreditKind = 'top_up' | 'contract_credit' | 'funds_reinstated';
export type TakeKind = 'refund' | 'claw_back';

/** One payment act with one key, sent more than once. */
export interface MoneyAct {
  readonly user: string;
  readonly kind: CreditKind | TakeKind;
  readonly key: string;
  readonly amount: number;
  /** The answers that came, in any order; a lost one is not among them. */
  readonly answers: readonly string[];
  readonly lostAnswers: number;
  /** What a send with the same key and another amount was answered. */
  readonly otherAmountAnswers: readonly string[];
}

export interface WalletFacts {
  readonly user: string;
  /** Always enough money, no cap ever, never disconnected, nothing ever taken back: no 402 can be right. */
  readonly isRich: boolean;
  /** The largest cap that was ever in force; undefined where there was a time without one. */
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

/** The books as they stand when all is quiet. */
export interface Books {
  readonly receipts: readonly Receipt[];
  readonly entries: readonly Entry[];
  readonly wallets: readonly WalletRow[];
  readonly holdsLeft: number;
}

export interface HistoryLog {
  readonly prices: Readonly<Record<string, ModelPrice>>;
  readonly wallets: readonly WalletFacts[];
  readonly calls: readonly CallFacts[];
  readonly provider: ReadonlyMap<string, ProviderFacts>;
  readonly money: readonly MoneyAct[];
  readonly books: Books;
}

import type { MovementKind } from '#ledger/history/queries.ts';
import type { CallReceipt } from '#calls/usage/report.ts';

/** The amounts of a receipt's price, margin included. */
interface ReceiptPrices {
  readonly input: string;
  readonly inputParts: readonly string[];
  readonly output: string;
  readonly outputParts: readonly string[];
  /** The price of each call. It is undefined if there is no fee. */
  readonly perCall: string | undefined;
  readonly perSearch: string | undefined;
}

function inBrackets(list: readonly string[]): string {
  return list.length === 0 ? '' : ` (${list.join(', ')})`;
}

/** What the owner reads for a kind of movement. They stand in the CSV file too, where people may filter by them. */
const MOVEMENTS: Readonly<Record<MovementKind, string>> = {
  charge: 'Call',
  top_up: 'Top-up',
  contract_credit: 'Credit from the operator',
  funds_reinstated: 'Payment returned by a bank',
  refund: 'Refund',
  claw_back: 'Payment taken back by a bank',
  recovery: 'Correction by the operator',
  refund_set_aside: 'Set aside for a refund',
  refund_paid: 'Refund paid out',
  refund_released: 'Refund failed: back in the wallet',
  given_up: 'Given up when the owner deleted their data',
  moved_out: 'Balance carried over to another server',
  moved_in: 'Balance carried over from another server',
};

/** How a call ended. A failed call and an interrupted one cost nothing; one that the app left early costs what was generated. */
const OUTCOMES: Readonly<Record<CallReceipt['outcome'], string>> = {
  answered: 'Answered',
  abandoned: 'The app disconnected early',
  failed: 'Failed',
  expired: 'Interrupted',
};

const LATE_REASON =
  'Charged late: the server that handled this call was cut off, and it reported the charge after the money on hold had been returned. ' +
  'You pay the price that the app was told, or less if your wallet had less available by then.';

function callsText(count: number): string {
  return count === 1 ? '1 call' : `${count.toLocaleString('en')} calls`;
}

/** The texts of what was booked in a wallet, and when. */
export const MOVEMENT_TEXTS = {
  movement: (kind: MovementKind): string => MOVEMENTS[kind],
  late: 'Charged late: the server was cut off',
  call: (model: string | undefined): string =>
    model === undefined ? MOVEMENTS.charge : `${MOVEMENTS.charge}: ${model}`,

  // Its movements.
  movementsTitle: 'Movements',
  what: 'What',
  amount: 'Amount',
  balanceAfter: 'Balance after',
  noMovements: 'Nothing yet.',
  noneSince: 'Nothing since then.',
  missing: (moment: string): string =>
    `Movements before ${moment} are missing here, because one of our servers is not responding. Your balance is correct. Please try again in a few minutes.`,
  /** Calls that follow each other, in one line. */
  calls: callsText,
  moreMovements: (count: number): string => `${count} more`,
  callsAndMore: (calls: number, others: number): string => `${callsText(calls)}, and ${others} more`,
  asideBefore: (amount: string): string => `${amount}, which left the balance when it was set aside`,
  /** In place of an amount that the balance is to change by. */
  noChange: 'no change',
  olderDays: 'Older days',
  olderMovements: 'Older movements',
  newestMovements: 'Newest movements',
  export: 'Export all as CSV',
  tokens: (prompt: number, completion: number): string => `${prompt} tokens in, ${completion} out`,
  fileName: 'movements.csv',

  // The chart of the month.
  chart: (spent: string): string => `Spent this month: ${spent}. There is no cap.`,
  chartOf: (spent: string, cap: string): string => `Spent this month: ${spent}, of a cap of ${cap}.`,
  chartTable: 'The month as a table',
  chartCaption: 'What calls cost this month (UTC)',
  day: 'Day',
  spentThatDay: 'That day',
  spentSoFar: 'So far',

  // Sessions of coding agents, `/wallet/:part/sessions`.
  sessionsTitle: 'Sessions of coding agents',
  sessionsWhat:
    'Claude Code, Codex and opencode name the session that a call belongs to. Only that name is kept, for some days after the last call of the session.',
  sessionsCaption: 'Sessions, newest first',
  noSessions: 'No coding agent has named a session in the last days.',
  newestSessions: 'Newest sessions',
  olderSessions: 'Older sessions',
  session: 'Session',
  wire: 'Interface',

  // The receipt of a call, `?receipt=`.
  receiptTitle: 'Receipt',
  receiptBack: 'Back to the wallet',
  callId: 'Call',
  at: 'When',
  model: 'Model',
  outcome: 'Outcome',
  outcomeOf: (outcome: CallReceipt['outcome']): string => OUTCOMES[outcome],
  tokensIn: 'Tokens in',
  tokensOut: 'Tokens out',
  searches: 'Web searches',
  kinds: {
    cached: 'cached',
    cacheWrite: 'written to the cache',
    cacheWriteLong: 'written to the cache for longer',
    audio: 'audio',
    images: 'images',
    reasoning: 'reasoning',
  },
  ofWhich: (count: number, kind: string): string => `${count} ${kind}`,
  price: 'Price',
  /** The price of a kind of token. */
  ifKind: (amount: string, kind: string): string => `${amount} if ${kind}`,
  priceOf: (prices: ReceiptPrices): string => {
    const fees = [
      ...(prices.perCall === undefined ? [] : [`${prices.perCall} for the call`]),
      ...(prices.perSearch === undefined ? [] : [`${prices.perSearch} for each search`]),
    ];
    const tokens = `${prices.input} in${inBrackets(prices.inputParts)}, ${prices.output} out${inBrackets(prices.outputParts)}`;
    return `Per million tokens: ${tokens}${fees.length === 0 ? '' : `. Plus ${fees.join(', ')}`}`;
  },
  held: 'On hold at the start',
  charged: 'Charged',
  released: 'Returned',
  /** Why the call cost what it did (CC-11). Failures are free; a count of our own is called an estimate. */
  fairness: ({ outcome, isEstimated, late }: Pick<CallReceipt, 'outcome' | 'isEstimated' | 'late'>): string => {
    if (outcome === 'failed' || outcome === 'expired') return 'Failed calls cost nothing.';
    if (late) return LATE_REASON;
    const until =
      outcome === 'abandoned' ? 'The app disconnected early: you pay for what was sent and generated until then. ' : '';
    return isEstimated
      ? `${until}Estimated: the model’s provider reported no token count, so we counted the tokens ourselves.`
      : `${until}Charged by the token count that the model’s provider reported, and never more than was put on hold.`;
  },
} as const;

import type { MovementKind } from '#ledger/history/queries.ts';
import type { CallReceipt } from '#calls/usage/report.ts';
import type { WalletState } from '#web/wallet-owner/owned-wallet.ts';

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

/** One word each: they stand in badges. */
const STATES: Readonly<Record<WalletState, string>> = {
  active: 'Active',
  paused: 'Paused',
  disconnected: 'Disconnected',
  blocked: 'Blocked',
};

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

/** The texts of the pages under `/wallet`, except refunds. */
export const WALLET_TEXTS = {
  state: (state: WalletState): string => STATES[state],
  movement: (kind: MovementKind): string => MOVEMENTS[kind],
  late: 'Charged late: the server was cut off',
  call: (model: string | undefined): string =>
    model === undefined ? MOVEMENTS.charge : `${MOVEMENTS.charge}: ${model}`,

  // The list of wallets, `/wallet`.
  listTitle: 'Your wallet',
  listLead: (email: string): string =>
    `You are signed in as ${email}. Each app has a wallet of its own and cannot spend from any other.`,
  empty: 'You have not connected an app yet. An app that uses this service will send you here to connect it.',
  /** Whether this person has any there is not known. */
  inPart:
    'Some of your apps may be missing here, because one of our servers is not responding. Their wallets are as you left them. Please try again in a few minutes.',
  connectedApps: 'Your apps',
  disconnectedApps: 'Disconnected apps',
  newer: 'Newer apps',
  older: 'More apps',
  signingIn: 'Signing in',
  passkeys: 'Passkeys',
  data: 'Your data: download or delete it',
  signOut: 'Sign out',
  signOutEverywhere: 'Sign out everywhere',

  // One wallet, `/wallet/:part`.
  title: (app: string): string => `Your wallet for ${app}`,
  balance: 'Balance',
  onHold: 'On hold',
  onHoldWhy: 'Money on hold is for requests that are running now. You get back what they do not use.',
  spendable: 'Available to spend',
  label: 'Your account there',
  topUp: 'Top up',
  /** No reason and no amount owed (WA-04): the owner asks the operator. */
  blocked: (operator: string): string =>
    `This wallet is blocked: the app cannot spend from it, and you cannot get a refund. Please contact ${operator}.`,
  paused: 'Paused: the app cannot spend until you resume. Your balance stays as it is.',
  disconnected: 'Disconnected: the app cannot spend. The money is still yours, and you can connect again at any time.',

  // Its monthly cap.
  capTitle: 'Monthly cap',
  capWhy: 'The most that the app can spend in a calendar month (UTC). A change applies from the next request.',
  changeCap: 'Change the cap',
  setOneCap: 'Set a cap',
  spentThisMonth: 'Spent this month',
  cap: 'Monthly cap',
  noCap: 'None',
  capField: (currency: string): string => `New monthly cap in ${currency}`,
  setCap: 'Set the cap',
  removeCap: 'Remove the cap',
  /** A pause is a cap of nothing, so a new cap replaces it. */
  capEndsPause: 'Setting or removing the cap also ends the pause.',
  alerts: (shares: readonly number[]): string =>
    shares.length === 0 ? 'E-mail me about the cap' : `E-mail me about the cap (at ${shares.join(', ')} %)`,
  alertsWhy: 'We e-mail you at most once a month for each share that you choose, within a minute of it being reached.',
  alertsNeedCap: 'There is no cap at the moment, so there is nothing to e-mail you about until you set one.',
  alertAt: (share: number): string =>
    share === 100 ? '100 %: the cap is used up, or less than 1 % is left' : `${share} % of the cap is spent`,
  setAlerts: 'Save',
  pause: 'Pause spending',
  resume: 'Resume spending',

  // The chart of the month.
  chart: (spent: string): string => `Spent this month: ${spent}. There is no cap.`,
  chartOf: (spent: string, cap: string): string => `Spent this month: ${spent}, of a cap of ${cap}.`,
  chartTable: 'The month as a table',
  chartCaption: 'What calls cost this month (UTC)',
  day: 'Day',
  spentThatDay: 'That day',
  spentSoFar: 'So far',

  // The ways out.
  moreTitle: 'Refund or disconnect',
  refundLink: 'Get a refund of unused money',
  agentsLink: 'Coding agents',
  disconnectLink: 'Disconnect the app',
  reconnect: 'Connect again',

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

  /** What was just done, by the `done` of the address. Any other value shows nothing: anybody can write an address. */
  done: new Map([
    ['cap', 'The monthly cap was set.'],
    ['no-cap', 'The monthly cap was removed.'],
    ['alerts', 'We will e-mail you when the shares of the cap that you chose are spent.'],
    ['no-alerts', 'We will not e-mail you about the cap any more.'],
    ['paused', 'Paused. The app’s next request will be refused.'],
    ['resumed', 'The app can spend again.'],
    ['disconnected', 'Disconnected. The app’s next request will be refused. Your balance stays in the wallet.'],
    ['reconnected', 'Connected again.'],
    [
      'refund',
      'Your refund is on its way. Any part that cannot be paid out is returned to this wallet: see “Movements”.',
    ],
    ['refund-repeated', 'You have already asked for this refund. See “Movements” for its progress.'],
  ]) as ReadonlyMap<string | null, string>,

  // The page that asks before it disconnects.
  disconnectTitle: (app: string): string => `Disconnect ${app}?`,
  disconnectWhat: [
    'The app can no longer spend from this wallet. A request that is already running finishes and is charged as usual.',
    'Your balance stays in this wallet. You can connect again at any time and find it as you left it.',
    'You can still get a refund of unused money.',
  ],
  disconnectYes: 'Disconnect',
  disconnectNo: 'Keep it connected',

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

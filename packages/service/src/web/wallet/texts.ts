import type { MovementKind } from '#ledger/wallet/history-queries.ts';
import type { CallReceipt } from '#usage/report.ts';
import type { WalletState } from '#web/person/own-connection.ts';

const STATES: Readonly<Record<WalletState, string>> = {
  active: 'Active',
  paused: 'Paused',
  disconnected: 'Disconnected',
  blocked: 'Blocked',
};

const MOVEMENTS: Readonly<Record<MovementKind, string>> = {
  charge: 'Call',
  top_up: 'Top-up',
  contract_credit: 'Credit from the operator',
  funds_reinstated: 'Payment given back by a bank',
  refund: 'Refund',
  claw_back: 'Payment taken back by a bank',
  recovery: 'Correction by the operator',
  refund_set_aside: 'Set aside for a refund',
  refund_paid: 'Refund paid out',
  refund_released: 'Refund not possible: back in the wallet',
};

const OUTCOMES: Readonly<Record<CallReceipt['outcome'], string>> = {
  answered: 'Answered',
  abandoned: 'The app hung up before the end',
  failed: 'Failed',
  expired: 'Broken off',
};

/** All words of the pages under `/wallet`. */
export const WALLET_TEXTS = {
  state: (state: WalletState): string => STATES[state],
  movement: (kind: MovementKind): string => MOVEMENTS[kind],
  call: (model: string | undefined): string =>
    model === undefined ? MOVEMENTS.charge : `${MOVEMENTS.charge}: ${model}`,

  listTitle: 'Your wallet',
  listLead: (email: string): string =>
    `You are signed in as ${email}. Each app has its own wallet: an app can spend from no other.`,
  empty: 'No app is connected yet. An app that uses this service sends you here to connect it.',
  connectedApps: 'Your apps',
  disconnectedApps: 'Disconnected apps',
  newer: 'Newer apps',
  older: 'More apps',
  signingIn: 'Signing in',
  passkeys: 'Passkeys',
  signOut: 'Sign out',
  signOutEverywhere: 'Sign out everywhere',

  title: (app: string): string => `Your wallet for ${app}`,
  allApps: 'All apps',
  balance: 'Balance',
  onHold: 'On hold',
  onHoldWhy: 'What is on hold is for calls that run now. What they do not use comes back.',
  spendable: 'Can be spent',
  label: 'Your account there',
  topUp: 'Top up',
  blocked: (operator: string): string =>
    `This wallet is blocked: the app cannot spend from it, and nothing can be refunded. Please contact ${operator}.`,
  paused: 'Paused: the app cannot spend. Your balance stays as it is.',
  disconnected: 'Disconnected: the app cannot spend. The money stays yours, and you can connect again at any time.',

  capTitle: 'Monthly cap',
  capWhy: 'The most that the app can spend in a calendar month (UTC). A change holds from the next call on.',
  spentThisMonth: 'Spent this month',
  cap: 'Monthly cap',
  noCap: 'None',
  capField: (currency: string): string => `New monthly cap in ${currency}`,
  setCap: 'Set the cap',
  removeCap: 'Remove the cap',
  capEndsPause: 'Setting or removing the cap ends the pause, too.',
  pause: 'Pause spending',
  resume: 'Resume spending',

  moreTitle: 'Refund or disconnect',
  refundLink: 'Refund what is unused',
  disconnectLink: 'Disconnect the app',
  reconnect: 'Connect again',

  movementsTitle: 'Movements',
  what: 'What',
  amount: 'Amount',
  balanceAfter: 'Balance after',
  noMovements: 'Nothing yet.',
  olderMovements: 'Older movements',
  newestMovements: 'Newest movements',
  export: 'Export all as CSV',
  tokens: (prompt: number, completion: number): string => `${prompt} tokens in, ${completion} out`,
  fileName: 'movements.csv',

  done: new Map([
    ['cap', 'The monthly cap is set.'],
    ['no-cap', 'The monthly cap is removed.'],
    ['paused', 'Paused. The next call of the app is refused.'],
    ['resumed', 'The app can spend again.'],
    ['disconnected', 'Disconnected. The next call of the app is refused. Your balance stays in the wallet.'],
    ['reconnected', 'Connected again.'],
    ['refund', 'The refund is on its way. A part that cannot be paid back comes back here: see “Movements”.'],
    ['refund-repeated', 'This refund was asked for already. How it stands is under “Movements”.'],
  ]) as ReadonlyMap<string | null, string>,

  disconnectTitle: (app: string): string => `Disconnect ${app}?`,
  disconnectWhat: [
    'The app can spend nothing from now on. A call that runs comes to its end and is charged as usual.',
    'Your balance stays in this wallet. You can connect again at any time and find it as it was.',
    'You can still ask for a refund of what is unused.',
  ],
  disconnectYes: 'Disconnect',
  disconnectNo: 'Keep it connected',

  receiptTitle: 'Receipt',
  receiptBack: 'Back to the movements',
  callId: 'Call',
  at: 'When',
  model: 'Model',
  outcome: 'Outcome',
  outcomeOf: (outcome: CallReceipt['outcome']): string => OUTCOMES[outcome],
  tokensIn: 'Tokens in',
  tokensOut: 'Tokens out',
  ofWhich: (count: number, what: 'cached' | 'reasoning'): string => `${count} ${what}`,
  price: 'Price',
  priceOf: (prices: { readonly input: string; readonly cached: string; readonly output: string }): string =>
    `For a million tokens: ${prices.input} in (${prices.cached} where cached), ${prices.output} out`,
  held: 'Held when it began',
  charged: 'Charged',
  released: 'Given back',
  fairness: ({ outcome, isEstimated }: Pick<CallReceipt, 'outcome' | 'isEstimated'>): string => {
    if (outcome === 'failed' || outcome === 'expired') return 'A call that fails costs nothing.';
    const until =
      outcome === 'abandoned' ? 'The app hung up: you pay for what was asked and generated until then. ' : '';
    return isEstimated
      ? `${until}Estimated: the model’s provider reported no count of tokens, so we counted them ourselves.`
      : `${until}Charged by the count of tokens that the model’s provider reported, never more than was held.`;
  },
} as const;

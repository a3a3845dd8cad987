import type { WalletState } from '#web/wallet-owner/owned-wallet.ts';

/** One word each: they stand in badges. */
const STATES: Readonly<Record<WalletState, string>> = {
  active: 'Active',
  paused: 'Paused',
  disconnected: 'Disconnected',
  blocked: 'Blocked',
};

/** The texts of the pages under `/wallet`, except refunds and movements. */
export const WALLET_TEXTS = {
  state: (state: WalletState): string => STATES[state],

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

  // The ways out.
  moreTitle: 'Refund or disconnect',
  refundLink: 'Get a refund of unused money',
  agentsLink: 'Coding agents',
  disconnectLink: 'Disconnect the app',
  reconnect: 'Connect again',

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
} as const;

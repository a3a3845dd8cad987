import type { Finding } from '#operator/health/attention.ts';
import type { FoundEntity } from '#operator/look-up/entities.ts';

/** Writes an age up to a minute in seconds, up to an hour in minutes, then in hours. */
function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3_600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3_600)} h`;
}

function times(count: number, one: string, many: string): string {
  return count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${many}`;
}

/** The texts of the overview for operators. */
export const OVERVIEW_TEXTS = {
  nothing: 'Nothing needs attention.',
  booksRight: (ms: number) => `The books were correct when they were checked ${age(ms)} ago.`,
  booksWrong: (count: number, ms: number) =>
    `The books are wrong: the check ${age(ms)} ago found ${times(count, 'difference', 'differences')}.`,
  booksUnknown: 'The ledger has not been checked yet. The first check runs within a minute.',
  ownCell: (cell: string) =>
    `You are in the cell ${cell}. The calls and the money below are those of all cells. The other cells need:`,
  cell: (cell: string) => `Cell ${cell}:`,
  noSums: 'The calls of all cells cannot be added up right now. Reload this page when all cells respond.',
  look: 'Look',
  findings: {
    'ledger-wrong': (count: number) => `The ledger contradicts itself in ${times(count, 'place', 'places')}.`,
    'ledger-check-old': () => 'The ledger has not been checked for five minutes.',
    'payments-kept': (count: number) => `${times(count, 'payment needs', 'payments need')} a decision.`,
    'disputes-open': (count: number) =>
      `${times(count, 'dispute is', 'disputes are')} open: a bank has taken money back in the last three weeks. Respond at the payment processor in time.`,
    'refunds-late': (count: number) =>
      `${times(count, 'refund has', 'refunds have')} been with the payment processor for more than a day.`,
    'acts-waiting': (count: number) => `${times(count, 'act waits', 'acts wait')} for a second person.`,
    'money-held-long': (count: number) => `${times(count, 'call has', 'calls have')} held money for more than an hour.`,
    'upstream-open': (count: number) =>
      `${times(count, 'upstream is', 'upstreams are')} failing, so calls go elsewhere first:`,
    'wallets-suspended': (count: number) => `${times(count, 'wallet was', 'wallets were')} suspended since yesterday.`,
    'webhooks-disabled': (count: number) =>
      `${times(count, 'webhook is', 'webhooks are')} disabled after failures. We have told the owners of the app:`,
    'webhooks-late': (count: number) =>
      `${times(count, 'delivery was', 'deliveries were')} due more than five minutes ago: the workers are not keeping up.`,
    'operators-without-second-factor': (count: number) =>
      `${times(count, 'operator has', 'operators have')} no second factor:`,
  } satisfies Readonly<Record<Finding['kind'], (count: number) => string>>,
  periods: { day: '24 hours', week: '7 days', month: '30 days' },
  before: (text: string) => `period before: ${text}`,
  calls: 'Calls',
  margin: 'Margin',
  share: (percent: number) => `${percent.toFixed(1)} % of the charges`,
  heldBy: (count: number) => `by ${times(count, 'running call', 'running calls')}`,
  shareOfCalls: (percent: number) => `${percent.toFixed(1)} % of calls`,
  ms: (ms: number) => (ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`),
  kinds: {
    served: 'served',
    refused: 'refused by this service',
    'provider-error': 'the provider failed',
    fault: 'this service failed',
  },
} as const;

/** The texts of the search and of one call. */
export const FIND_TEXTS = {
  what: 'Enter the ID of a call, payment, refund, dispute, case, checkout, act for a second person, event, app, key, account or person. You can also enter the correlation ID of calls, the processor’s ID of a payment, an app and a user (“app_… anna”) or a number for a wallet, or a complete e-mail address.',
  none: (query: string) => `Nothing has the ID or address “${query}”. Traces of calls are kept for a few days only.`,
  elsewhere: (cell: string) => `It is in the cell ${cell}. Look there.`,
  away: (cell: string) => `It may be in the cell ${cell}, which is not responding.`,
  kinds: {
    call: 'Call',
    payment: 'Payment',
    refund: 'Refund',
    checkout: 'Checkout',
    event: 'Event',
    app: 'App',
    key: 'API key',
    account: 'Account',
    wallet: 'Wallet',
    identity: 'Owner of wallets',
    case: 'Payment case',
    dispute: 'Dispute',
    pending: 'Act for a second person',
  } satisfies Readonly<Record<FoundEntity['kind'], string>>,
} as const;

export const CALL_TEXTS = {
  none: 'No call has this ID. Traces of calls are kept for a few days, receipts of charged calls for good.',
  app: 'App',
  wallet: 'Wallet',
  holdWhat: 'The call is running. The hold ends with the call, or if its process dies.',
} as const;

import type { DifferenceKind } from '#reconciliation/compare.ts';
import type { Subject } from '#payments/movement.ts';

/** The texts of the pages that compare what others say they moved and billed with our books. */

export const FILE_TEXTS = {
  from: 'From (UTC day)',
  to: 'To (the day after the last)',
} as const;

const KINDS: Readonly<Record<DifferenceKind, string>> = {
  not_in_books: 'Not in our books',
  not_in_report: 'Not in the report',
  amount: 'Other amount',
  currency: 'Other currency',
  state: 'Other state here',
  day: 'Other day',
  filed_before: 'In an earlier report already',
};

const SUBJECTS: Readonly<Record<Subject, string>> = {
  payment: 'Payment',
  refund: 'Refund',
  'failed refund': 'Failed refund',
  dispute: 'Dispute',
  'dispute returned': 'Dispute, money returned',
};

export const RECONCILIATION_TEXTS = {
  title: 'Reconciliation',
  intro:
    'Compare a report of the payment processor with our books. Nothing is booked here: each difference is for a person to look at. A report without differences is filed.',
  compare: 'Compare a report',
  file: 'Report (CSV)',
  fileHint:
    'Stripe: Reports, Balance, "Balance change from activity", itemized, with the column `payment_intent_id`; `payment_metadata[purser_checkout]` tells our payments from those of other software. At most 1 MB; `purser reconcile` takes larger files.',
  orList: 'Without a file, the list of movements is read from Stripe.',
  send: 'Compare',
  chooseFile: 'Choose the file of the report.',
  clean: 'The report and our books agree. The report is filed.',
  differ: (found: string) => `${found === '1' ? '1 difference' : `${found} differences`}. The report is not filed.`,
  onlyDays: (count: string) =>
    `${count === '1' ? '1 movement is' : `${count} movements are`} on another day here. That is usual around midnight.`,
  lines: 'Lines',
  matched: 'On both sides',
  differences: 'Differences',
  foreign: 'Of other software',
  foreignNote: 'They name no checkout of ours',
  what: 'What',
  kind: 'Kind',
  there: 'Report',
  here: 'Our books',
  more: 'Difference',
  line: (line: number) => `line ${line}`,
  shown: (count: string) => `The first ${count} are shown.`,
  noDifferences: 'There are no differences.',
  sums: 'What the report has',
  category: 'Category',
  count: 'Count',
  gross: 'Gross',
  fee: 'Fees',
  net: 'Net',
  noSums: 'The report has no movements.',
  ownSums: 'What our books have of the period',
  amount: 'Amount',
  noOwnSums: 'Our books have no movements.',
  filed: 'Filed reports',
  period: 'Period',
  filedAt: 'Filed',
  by: 'By',
  digest: 'SHA-256',
  daysApart: (count: string) => `${count} on another day`,
  filedCaption: 'The newest first',
  noFiled: 'No report was filed yet.',
  older: 'Older',
  kinds: KINDS,
  subjects: SUBJECTS,
} as const;

export const BILLS_TEXTS = {
  title: 'Provider bills',
  intro:
    'Compare what a provider says it billed with our receipts, by UTC day and model. Calls that a provider served count, also those that nobody paid for. Nothing is kept.',
  compare: 'Compare a bill',
  provider: 'Provider',
  providerHint: 'As the catalogue names it.',
  format: 'Format',
  formats: {
    openrouter: 'OpenRouter: GET /api/v1/activity',
    anthropic: 'Anthropic: cost_report, grouped by description',
    openai: 'OpenAI: organization/costs, grouped by line_item',
  },
  dollar: (currency: string) => `One US dollar in ${currency}`,
  dollarHint: 'Bills are in US dollars. For example 0.92.',
  dollarWrong: (label: string) => `${label}: must be an amount, such as 0.92.`,
  file: 'Bill (JSON)',
  fileHint:
    'The answer of the provider as it came, or an array of several. At most 1 MB; `purser bill` takes larger files.',
  send: 'Compare',
  chooseFile: 'Choose the file of the bill.',
  theirs: 'Billed',
  ours: 'By our receipts',
  oursNote: 'Upstream prices, no margin',
  unpaid: 'Of these, not paid for',
  unpaidNote: 'Abandoned or failed calls that were served',
  difference: 'Unexplained',
  rows: 'By day and model',
  day: 'Day',
  model: 'Model',
  noModel: 'No model',
  calls: 'Calls: billed / ours',
  tokens: 'Tokens: billed / ours',
  rough: (count: string) => `${count} with tiers or fees: cost is rough`,
  shown: (count: string) => `The first ${count} rows are shown, those that differ most first.`,
  none: 'Neither the bill nor our receipts have anything in this period.',
} as const;

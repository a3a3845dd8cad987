import type { DifferenceKind } from '#reconciliation/reports/compare.ts';
import type { Subject } from '#payments/processor/movement.ts';

/** The texts of the pages that compare what others say they moved and billed with our books. */

export const FILE_TEXTS = {
  from: 'From (UTC day)',
  to: 'To (the day after the last)',
} as const;

const KINDS: Readonly<Record<DifferenceKind, string>> = {
  not_in_books: 'Not in our books',
  not_in_report: 'Not in the report',
  amount: 'Different amount',
  currency: 'Different currency',
  state: 'Different state',
  day: 'Different day',
  filed_before: 'Already in an earlier report',
};

const SUBJECTS: Readonly<Record<Subject, string>> = {
  payment: 'Payment',
  refund: 'Refund',
  'failed refund': 'Failed refund',
  dispute: 'Dispute',
  'dispute returned': 'Dispute, money returned',
};

export const RECONCILIATION_TEXTS = {
  intro:
    'Compare a report of the payment processor with our books. Nothing is booked here: you have to look at each difference yourself. A report without differences is filed.',
  file: 'Report (CSV)',
  fileHint:
    'In Stripe: Reports, Balance, "Balance change from activity", itemized, with the column `payment_intent_id`. Add the column `payment_metadata[purser_checkout]` to distinguish our payments from those of other software. At most 1 MB; `purser reconcile` takes larger files.',
  orList: 'If you do not choose a file, the list of movements is read from Stripe.',
  chooseFile: 'Choose the file with the report.',
  clean: 'The report and our books agree. The report is filed.',
  differ: (found: string) => `${found === '1' ? '1 difference' : `${found} differences`}. The report is not filed.`,
  onlyDays: (count: string) =>
    `${count === '1' ? '1 movement is' : `${count} movements are`} on a different day in our books. This is usual around midnight.`,
  lines: 'Lines',
  differences: 'Differences',
  foreignNote: 'They do not name any of our checkouts',
  what: 'What',
  line: (line: number) => `line ${line}`,
  sums: 'Totals of the report',
  count: 'Count',
  net: 'Net',
  kinds: KINDS,
  subjects: SUBJECTS,
} as const;

export const BILLS_TEXTS = {
  intro:
    'Compare what a provider says it billed with our receipts, by UTC day and model. All calls that the provider served count, including those that nobody paid for. Nothing is kept.',
  provider: 'Provider',
  providerHint: 'Its name in the catalogue.',
  format: 'Format',
  formats: {
    openrouter: 'OpenRouter: GET /api/v1/activity',
    anthropic: 'Anthropic: cost_report, grouped by description',
    openai: 'OpenAI: organization/costs, grouped by line_item',
  },
  dollar: (currency: string) => `One US dollar in ${currency}`,
  file: 'Bill (JSON)',
  fileHint:
    'The answer of the provider, unchanged, or an array of several answers. At most 1 MB; `purser bill` takes larger files.',
  theirs: 'Billed',
  ours: 'In our receipts',
  difference: 'Unexplained',
  tokens: 'Tokens: billed / ours',
  rough: (count: string) => `${count} with tiers or fees: the cost is approximate`,
  shown: (count: string) => `Only the ${count} rows that differ the most are shown.`,
} as const;

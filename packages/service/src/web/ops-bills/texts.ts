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
  differ: (found: string) => `${found} differences. The report is not filed.`,
  onlyDays: (count: string) => `${count} movements are on another day here. That is usual around midnight.`,
  lines: 'Lines',
  matched: 'On both sides',
  differences: 'Differences',
  foreign: 'Of other software',
  foreignNote: 'They name no checkout of ours',
  what: 'What',
  kind: 'Difference',
  there: 'Report',
  here: 'Our books',
  more: 'Processor has more than we have',
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
  noFiled: 'No report was filed yet.',
  older: 'Older',
  kinds: KINDS,
  subjects: SUBJECTS,
} as const;

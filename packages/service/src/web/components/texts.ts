/** What amounts and the fields for them say. */
export const AMOUNT_TEXTS = {
  exactly: (amount: string) => `Exactly ${amount}`,
  hint: 'Digits, with a point or a comma before the cents: 12 or 12.50.',
  fault: 'Enter the amount in digits, with at most one point or comma: 12, 12.50 or 12,50.',
} as const;

export const MARK_TEXTS = {
  logoOf: (name: string) => `Logo of ${name}`,
} as const;

/** The texts of charts, code, lists and filters. */
export const PART_TEXTS = {
  copy: 'Copy',
  copied: 'Copied',
  asTable: 'Show as a table',
  when: 'When',
  filter: 'Show',
} as const;

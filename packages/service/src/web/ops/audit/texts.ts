/** The texts of the pages of the audit trail. */
export const AUDIT_TEXTS = {
  title: 'Audit',
  what: 'Who did what, from where and why: acts of operators, of members on their apps, and of people on their accounts. Any later change or removal would be noticed.',
  fields: {
    who: 'Who (e-mail or ID)',
    action: 'Act (for example wallet.credit or wallet)',
    subject: 'On what (exact match)',
    app: 'App',
    amountFrom: 'Amount from (%)',
    amountTo: 'Amount to (%)',
    from: 'From (UTC)',
    to: 'Before (UTC)',
  },
  notAnApp: 'An app ID looks like `app_2vVn7QXx0S4bnmHbZbAeRi`.',
  notAnAction: 'The name of an act is one word, or several with dots, such as `wallet.credit`.',
  notAMoment: '“From” and “Before” must be times such as 2026-11-30T08:00.',
  notAnAmount: 'An amount is a number such as 12.50, with at most six decimals.',
  csv: 'CSV',
  jsonl: 'JSON lines',
  chainWhat:
    'Each act has a line with a hash of the act and of the line before. Keep the last hash outside of the service: purser audit check can compare it later.',
} as const;

export const SIGN_IN_TEXTS = {
  what: 'Sign-ins and failed attempts of accounts and wallet owners in the last 90 days, counted by the minute.',
  results: {
    signed_in: 'signed in',
    wrong_password: 'wrong password',
    too_many_attempts: 'too many attempts',
    password_reset: 'password reset',
    wrong_code: 'wrong code',
    refused_passkey: 'passkey refused',
    needs_second_factor: 'correct password, second factor requested',
    wrong_second_factor: 'wrong second factor',
    refused_sso: 'single sign-on refused',
  },
} as const;

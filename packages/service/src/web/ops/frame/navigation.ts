/** The pages for operators, in the order of the navigation at the side. `page` is what follows `/ops/`. */
export const OPS_PAGES = [
  { page: '', text: 'Overview' },
  { page: 'wallets', text: 'Wallets' },
  { page: 'payments', text: 'Payments' },
  { page: 'reconciliation', text: 'Reconciliation' },
  { page: 'bills', text: 'Provider bills' },
  { page: 'apps', text: 'Apps' },
  { page: 'accounts', text: 'Accounts' },
  { page: 'pending', text: 'Second person' },
  { page: 'catalogue', text: 'Catalogue' },
  { page: 'audit', text: 'Audit' },
  { page: 'health', text: 'Health' },
] as const;

/** Pages that have others below them and are not in the navigation. */
export const OTHER_PAGES = [
  { page: 'find', text: 'Find anything' },
  { page: 'person', text: 'Person' },
] as const;

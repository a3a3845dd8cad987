/** The texts of the overview for operators. */
export const OVERVIEW_TEXTS = {
  title: 'Overview',
  day: 'The last 24 hours, live',
  calls: 'Calls',
  charged: 'Charged to users',
  refused: 'Refused',
  failed: 'Failed',
} as const;

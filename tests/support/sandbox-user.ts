/** What a test user starts with, unless a setting says otherwise. */
export const GRANT = 5_000_000;

/** A test user who has made no call yet, without their id. */
export const FRESH_USER = {
  balanceMicros: GRANT,
  reservedMicros: 0,
  availableMicros: GRANT,
  currency: 'EUR',
  requests: 0,
  tokens: 0,
  spendCapMicros: null,
  suspended: false,
  nextOutcome: null,
};

/** What came of a sign-in, or of an attempt at one. */
export const SIGN_IN_RESULTS = [
  'signed_in',
  'wrong_password',
  'too_many_attempts',
  'password_reset',
  'wrong_code',
  'refused_passkey',
  'needs_second_factor',
  'wrong_second_factor',
  'refused_sso',
] as const;

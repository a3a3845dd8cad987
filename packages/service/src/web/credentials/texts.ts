/** The texts of the pages of accounts: those of app owners and operators. */
export const ACCOUNT_TEXTS = {
  title: 'Your account',
  you: 'You',
  name: 'Name',
  email: 'E-mail',
  role: 'Role',
  /** The role of the account, which decides what the API lets it do. */
  roleOf: {
    owner: 'App owner',
    viewer: 'Operator: viewer',
    support: 'Operator: support',
    finance: 'Operator: finance',
    admin: 'Operator: admin',
  },
  toApps: 'Go to your apps',

  notVerified: 'not verified yet',
  verify: 'Verify your e-mail',
  verifyWhat:
    'We have e-mailed you a link. Open it in this browser. Until then you can use the sandbox, but you cannot make live keys.',
  sendAgain: 'Send the link again',

  secondFactor: 'Second factor',
  factorOn: 'It is on. Your password alone is not enough to sign in.',
  factorOff: 'It is off. With a passkey or an authenticator app, a stolen password is not enough to sign in.',
  addFactor: 'Add a second factor',
  changeFactor: 'Passkeys, authenticator app and recovery codes',

  sessions: 'Where you are signed in',
  thisBrowser: 'This browser',
  signedIn: 'Signed in',
  lastUsed: 'Last used',
  end: 'Sign out',
  /** The text is for screen readers, because every session has the same button. */
  endThat: (since: string) => `Sign out the session that began at ${since}`,
  endOthers: 'Sign out everywhere else',
  older: (count: number) => (count === 1 ? 'And one older session.' : `And ${count} older sessions.`),

  password: 'Password',
  change: 'Change your password',
  presentPassword: 'Current password',
  changeIt: 'Change the password',

  sso: 'Sign-in',
  ssoOn: (name: string) =>
    `You sign in through ${name}, which also checks your second factor. You have no password here.`,
  ssoOff: (name: string) => `Are you an operator with an account at ${name}?`,
  ssoLink: (name: string) => `Sign in through ${name} from now on`,

  /** What was just done, by the `done` of the address. Any other value shows nothing: anybody can write an address. */
  done: new Map([
    ['password', 'Your password was changed, and every other session was signed out.'],
    ['session', 'The session was signed out.'],
    ['others', 'Every other session was signed out.'],
    ['verification', 'The link is on its way. The earlier one no longer works.'],
    ['verified', 'Your e-mail is verified.'],
    ['linked', 'Your account was linked. Its password was removed.'],
  ]) as ReadonlyMap<string | null, string>,
} as const;

/** The texts of the sign-in of accounts. Wrong passwords are answered by the API's own message. */
export const ACCOUNT_SIGN_IN_TEXTS = {
  title: 'Sign in',
  email: 'E-mail',
  password: 'Password',
  signIn: 'Sign in',
  forgot: 'Forgot your password?',
  register: 'Create an account',
  passkey: 'Sign in with a passkey',
  forOperators: 'Operators of this service:',
  through: (name: string) => `Sign in with ${name}`,
} as const;

/** The texts of signing in through an OpenID Connect provider. */
export const SSO_TEXTS = {
  failed: 'You are not signed in',
  again: 'Back to signing in',
  leaving: 'Taking you to your sign-in',
  to: (name: string) => `Continue to ${name}`,
  linkTitle: 'Link your account',
  linkWhat: (name: string) =>
    `From now on you sign in through ${name}, which also sets your role here. The password and the second factor of this account are removed, and every session ends. Both sides must know you by the same e-mail address.`,
  link: (name: string) => `Link to ${name}`,
  back: 'Back to your account',
} as const;

/** The texts of the page that makes an account. */
export const REGISTER_TEXTS = {
  title: 'Create an account',
  what: 'Accounts are for people who build an app. You do not need one for a wallet: the app sends you there.',
  email: 'E-mail',
  unfit: 'Type an e-mail address, and a password of 10 to 256 characters.',
  create: 'Create the account',
  signIn: 'Do you have an account? Sign in',
} as const;

/** The texts of every field for a new password. The bounds are those of the contract. */
export const NEW_PASSWORD_TEXTS = {
  field: 'New password',
  hint: '10 to 256 characters of any kind.',
  unfit: 'The new password must have 10 to 256 characters.',
} as const;

/** The texts of a password reset. */
export const PASSWORD_RESET_TEXTS = {
  askTitle: 'Reset your password',
  ask: 'We will e-mail you a link to set a new password.',
  email: 'E-mail',
  send: 'Send the link',
  back: 'Back to signing in',
  askedTitle: 'Check your e-mail',
  /** Says nothing about whether there is such an account. */
  asked:
    'If an account has this e-mail address, a link to set a new password is on its way. It works once, within an hour.',
  useTitle: 'Set a new password',
  use: 'This signs you out everywhere else and signs you in here.',
  set: 'Set the password',
  voidTitle: 'This link no longer works',
  again: 'Ask for a new link',
  noLink: 'Open the complete link from the e-mail, in a browser that accepts cookies.',
} as const;

/** The texts of the page that verifies an e-mail. */
export const VERIFY_TEXTS = {
  title: 'Verify your e-mail',
  signInFirst: 'Sign in to the account that received this e-mail. You can then verify its address.',
  signIn: 'Sign in',
  confirm: (email: string) => `Is this account yours, and do e-mails to ${email} reach you?`,
  verify: 'Verify this e-mail',
  noLink: 'Open the complete link from the e-mail, in a browser that accepts cookies.',
  back: 'Back to your account',
} as const;

/** The label of every field for a code. */
export const CODE_FIELD_TEXTS = { code: 'Code' } as const;

/** The texts of the second step of a sign-in. */
export const SECOND_STEP_TEXTS = {
  title: 'Your second factor',
  app: 'Type the six digits that your authenticator app shows.',
  onlyRecovery: 'Use your passkey. If you have lost it, type one of your recovery codes.',
  lost: 'No phone at hand? Type one of your recovery codes.',
  passkey: 'Use a passkey',
  signIn: 'Sign in',
  other: 'Start again',
  again: 'Sign in again',
} as const;

/** The texts of the page that asks again who one is. */
export const PROVE_TEXTS = {
  title: 'Is it you?',
  why: 'Please confirm that it is you, so that nobody else can do this in a browser that you left open. This is valid for ten minutes.',
  provedTitle: 'Confirmed',
  proved: 'This is valid for ten minutes. Close this tab, go back to the tab with your form, and send it there.',
  password: 'Password',
  code: 'From your authenticator app, or a recovery code.',
  prove: 'Continue',
  passkey: 'Use a passkey instead',
  through: (name: string) => `Sign in to ${name} again`,
  back: 'Go back',
} as const;

/** The texts about passkeys of accounts. */
export const PASSKEY_TEXTS = {
  notUsed: 'No passkey was used. Try again, or continue without one.',
  add: 'Add a passkey',
  notAdded: 'No passkey was added. Try again if you want one.',
  cannot: 'This browser does not support passkeys.',
  /** Browsers bind passkeys to a name. An IP address has none. */
  noName: 'Passkeys work only at a service with a name. This one is reached by its IP address.',
  needsScripts: 'You need JavaScript to add a passkey. An authenticator app works without it.',
} as const;

/** The texts of the page of second factors. */
export const SECOND_FACTOR_TEXTS = {
  title: 'Second factor',
  on: 'You sign in with your password and one of these, or with a passkey alone.',
  off: 'You sign in with your password alone. Add a passkey or an authenticator app, so that nobody gets in with a stolen password.',
  proveFirst: 'Change your second factor',
  authenticator: 'Authenticator app',
  authenticatorWhat: 'An app on your phone shows a new code every 30 seconds. Programs that sign in need this kind.',
  addAuthenticator: 'Add an authenticator app',
  removeAuthenticator: 'Remove the authenticator app',
  removeSure: 'Its codes stop working. If you have no passkey either, your password alone is then enough to sign in.',
  remove: 'Remove',
  removeThat: (since: string) => `Remove the passkey that was added at ${since}`,
  passkeys: 'Passkeys',
  passkeysWhat:
    'With a passkey you sign in with your fingerprint, your face or your device’s PIN. A fake page cannot steal it.',
  addedAt: 'Added',
  lastUsed: 'Last used',
  neverUsed: 'Never used',
  codes: 'Recovery codes',
  codesLeft: (left: number) =>
    left === 1
      ? 'One is left. It works once, if you have lost everything else.'
      : `${left} are left. Each works once, if you have lost everything else.`,
  newCodes: 'Make new recovery codes',
  newCodesSure: 'The codes that you have now stop working.',
  makeCodes: 'Make ten new codes',
  codesTitle: 'Your recovery codes',
  codesWhat:
    'If you lose your phone or your passkey, each of these signs you in once. Print them, or keep them in your password manager.',
  codesOnce: 'We cannot show them again.',
  codesKept: 'I have kept them',
  back: 'Back to your account',
  done: new Map([
    ['code-mailed', 'We have e-mailed you a code.'],
    ['passkey-added', 'The passkey was added.'],
    ['passkey-removed', 'The passkey was removed. Delete it on your device too.'],
    ['authenticator-added', 'The authenticator app was added.'],
    ['authenticator-removed', 'The authenticator app was removed.'],
  ]) as ReadonlyMap<string | null, string>,
} as const;

/** The texts about the code that an operator needs for their first second factor. */
export const ENROLMENT_TEXTS = {
  heading: 'First you need a code',
  what: 'You are an operator, so your password alone is not enough to add the first second factor. Let us e-mail you a code, then add a passkey or an app below. If this service sends no e-mail, the person who runs the machine can print one: npm run purser -- operator enrol --email and your address.',
  mail: 'E-mail me a code',
  label: 'Code from the e-mail',
  hint: 'Ten letters and digits. It works once, within an hour.',
} as const;

/** The texts of the page that sets up an authenticator app. */
export const AUTHENTICATOR_TEXTS = {
  title: 'Add an authenticator app',
  scan: 'Scan this with your authenticator app.',
  qr: 'QR code that sets up an authenticator app',
  type: 'If you cannot scan it, add an account in the app with this setup key:',
  open: 'Open in an app on this device',
  secretHint: 'If the app asks for a type, choose “time based”. Do not show this key to anybody: it makes your codes.',
  next: 'Then type the six digits that the app shows.',
  codeHint: 'They change every 30 seconds.',
  confirm: 'Add the app',
  back: 'Go back without adding it',
} as const;

/** The texts of the pages of accounts: those of app owners and operators. */
export const ACCOUNT_TEXTS = {
  title: 'Your account',
  you: 'You',
  name: 'Name',
  email: 'E-mail',
  role: 'Role',
  /** The role of the account, which decides what the API lets it do. */
  roleOf: { operator: 'Operator', owner: 'App owner' },
  signOut: 'Sign out',

  sessions: 'Where you are signed in',
  thisBrowser: 'This browser',
  signedIn: 'Signed in',
  lastUsed: 'Last used',
  end: 'Sign out',
  /** For screen readers: every session has the same button. */
  endThat: (since: string) => `Sign out the session of ${since}`,
  endOthers: 'Sign out everywhere else',
  older: (count: number) => `And ${count} older sessions.`,

  change: 'Change your password',
  presentPassword: 'Current password',
  changeIt: 'Change the password',

  /** What was just done, by the `done` of the address. Any other value shows nothing: anybody can write an address. */
  done: new Map([
    ['password', 'Your password was changed, and every other session was signed out.'],
    ['session', 'The session was signed out.'],
    ['others', 'Every other session was signed out.'],
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
} as const;

/** The texts of the page that makes an account. */
export const REGISTER_TEXTS = {
  title: 'Create an account',
  what: 'For people who build an app. Wallets need no account: apps send their users there.',
  email: 'E-mail',
  unfit: 'Type an e-mail address, and a password of 10 to 256 characters.',
  create: 'Create the account',
  signIn: 'You have an account? Sign in',
} as const;

/** The texts of every field for a new password. The bounds are those of the contract. */
export const NEW_PASSWORD_TEXTS = {
  field: 'New password',
  hint: '10 to 256 characters, of any kind.',
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
  use: 'This signs out every session of your account, and signs you in here.',
  set: 'Set the password',
  voidTitle: 'This link no longer works',
  again: 'Ask for a new link',
  noLink: 'Open the complete link from the e-mail, in a browser that accepts cookies.',
} as const;

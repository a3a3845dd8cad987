/** What the pages of accounts say, those of app owners and operators. */
export const ACCOUNT_TEXTS = {
  title: 'Your account',
  you: 'You',
  name: 'Name',
  email: 'E-mail',
  role: 'Role',
  roleOf: { operator: 'Operator', owner: 'App owner' },
  signOut: 'Sign out',

  sessions: 'Where you are signed in',
  thisBrowser: 'This browser',
  signedIn: 'Signed in',
  lastUsed: 'Last used',
  end: 'End',
  endThat: (since: string) => `End the session of ${since}`,
  endOthers: 'End all others',
  older: (count: number) => `And ${count} older ones.`,

  change: 'Change your password',
  presentPassword: 'Present password',
  changeIt: 'Change the password',

  done: new Map([
    ['password', 'The password is changed. Every other session has ended.'],
    ['session', 'The session has ended.'],
    ['others', 'Every other session has ended.'],
  ]) as ReadonlyMap<string | null, string>,
} as const;

export const ACCOUNT_SIGN_IN_TEXTS = {
  title: 'Sign in',
  email: 'E-mail',
  password: 'Password',
  signIn: 'Sign in',
  forgot: 'Forgot your password?',
} as const;

export const NEW_PASSWORD_TEXTS = {
  field: 'New password',
  hint: 'Any characters, 10 to 256 of them.',
  unfit: 'The new password must have 10 to 256 characters.',
} as const;

export const PASSWORD_RESET_TEXTS = {
  askTitle: 'Reset your password',
  ask: 'We send you a link by which you set a new password.',
  email: 'E-mail',
  send: 'Send the mail',
  back: 'Back to signing in',
  askedTitle: 'Check your mail',
  asked:
    'If this e-mail has an account, a link to set a new password is on its way to it. It works once, within an hour.',
  useTitle: 'Set a new password',
  use: 'Every session of your account ends, and you are signed in here.',
  set: 'Set the password',
  voidTitle: 'This link is void',
  again: 'Ask for a new link',
  noLink: 'Open the whole link from the mail, in a browser that keeps cookies.',
} as const;

import type { OperatorRole } from '@purser/contract/operator-access.ts';

/** The texts of the pages about apps. */
export const APP_TEXTS = {
  statuses: { active: 'Active', suspended: 'Suspended' },
  done: new Map([
    ['changed', 'The rights and limits were changed.'],
    ['suspended', 'The app is suspended. Its keys are refused.'],
    ['resumed', 'The suspension is lifted. The keys work again.'],
  ]),
  none: 'none',
  ratePerMinute: 'Calls per minute',
  maxStreams: 'Streams at once for each user',
  changeHint: (perMinute: string, burst: string, streams: string) =>
    `The limits are now ${perMinute} calls a minute, ${burst} at once, and ${streams} streams for each user. A change applies from the next call.`,
  suspend: 'Suspend the app',
  suspendWhat: (keys: number) =>
    `Within a second, calls with ${keys === 1 ? 'its one key' : `its ${keys} keys`} are refused. Calls that are already running continue and are charged. Members can still see the app, and its users can still see their wallets.`,
  resume: 'Lift the suspension',
  calls: 'Calls',
  charged: 'Charged to users',
  keyStates: { active: 'Active', expired: 'Expired', revoked: 'Revoked' },
  never: 'never',
  noEvent: 'No webhook event has this ID. Events are kept for 30 days, and test events are not kept.',
  aKey: 'API key',
  facts: 'Facts',
} as const;

export const ACCOUNTS_TEXTS = {
  columns: ['E-mail', 'Role', 'State', 'Second factor', 'Created'],
  roles: {
    owner: 'App owner',
    viewer: 'Operator: viewer',
    support: 'Operator: support',
    finance: 'Operator: finance',
    admin: 'Operator: admin',
  } satisfies Readonly<Record<OperatorRole | 'owner', string>>,
  states: { active: 'Active', disabled: 'Disabled', unverified: 'E-mail not verified' },
  off: 'off',
  createWhat:
    'You vouch for the e-mail address. Do not send the password by e-mail; give it to the person in another way. They can change it in their account.',
  email: 'E-mail',
  name: 'Name',
  password: 'Password',
  passwordHint: '10 to 256 characters of any kind.',
  role: 'Role',
} as const;

export const ACCOUNT_TEXTS = {
  done: new Map([
    ['created', 'The account was created.'],
    ['role', 'The role was changed. All sessions of the account have ended.'],
    ['disable', 'The account is disabled. All its sessions have ended.'],
    ['enable', 'The account can sign in again.'],
    ['vouch', 'You have vouched for the e-mail address.'],
    ['unlink', 'The link to the provider was removed. To set a password, they ask for a reset by e-mail.'],
    [
      'factor',
      'The second factors and recovery codes were removed, and we have told the person by e-mail. All sessions of the account have ended.',
    ],
  ]),
  role: 'Change the role',
  roleWhat: 'The change takes effect with the next request and ends every session of the account.',
  disable: 'Disable the account',
  disableWhat: (email: string) =>
    `${email} can no longer sign in, and all their sessions end now. Their apps and keys keep working: suspend an app to stop its calls.`,
  enable: 'Enable the account',
  enableWhat: (email: string) => `${email} can sign in again with the same password and second factor.`,
  vouch: 'Vouch for the e-mail address',
  vouchWhat: (email: string) =>
    `This has the same effect as if ${email} had opened the link in our e-mail: the account may make live keys.`,
  unlink: 'Remove the link to the provider',
  unlinkWhat: (email: string) =>
    `${email} can no longer sign in through the provider and is signed out everywhere. The account then has no password: they ask for a reset by e-mail and add their own second factor.`,
  factor: 'Remove the second factor',
  factorWhat: (email: string) =>
    `This removes every passkey, authenticator app and recovery code of ${email} and ends every session. Make sure that you know who is asking: after this, the password alone is enough to sign in. We tell ${email} by e-mail.`,
} as const;

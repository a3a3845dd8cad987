import type { OperatorRole } from '@purser/contract/operator-access.ts';

/** The texts of the pages about apps. */
export const APPS_TEXTS = {
  title: 'Apps',
  caption: 'Newest first',
  columns: ['Name', 'Owners', 'State', 'Created'],
  query: 'Part of the ID or name, or a member’s complete e-mail address',
  status: 'State',
  all: 'All',
  statuses: { active: 'Active', suspended: 'Suspended' },
  firstParty: 'First party',
  none: 'No apps match.',
  noOwner: 'nobody',
  older: 'Older apps',
  newest: 'Newest apps',
} as const;

export const APP_TEXTS = {
  noSuch: 'There is no such app.',
  done: new Map([
    ['changed', 'The rights and limits were changed.'],
    ['suspended', 'The app is suspended. Its keys are refused.'],
    ['resumed', 'The suspension is lifted. The keys work again.'],
  ]) as ReadonlyMap<string | null, string>,
  facts: 'Facts',
  appId: 'App ID',
  created: 'Created',
  state: 'State',
  redirects: 'Redirect addresses',
  returns: 'Return address',
  none: 'none',
  wallets: 'Wallets of its users',
  rights: 'Rights and limits',
  ratePerMinute: 'Calls per minute',
  rateBurst: 'Calls at once, after a quiet period',
  maxStreams: 'Streams at once for each user',
  firstParty: 'First party: it may call reserved models',
  change: 'Change rights and limits',
  changeHint: (perMinute: string, burst: string, streams: string) =>
    `The limits are now ${perMinute} calls a minute, ${burst} at once, and ${streams} streams for each user. A change applies from the next call.`,
  suspend: 'Suspend the app',
  suspendWhat: (keys: number) =>
    `Within a second, calls with ${keys === 1 ? 'its one key' : `its ${keys} keys`} are refused. Calls that are already running continue and are charged. Members can still see the app, and its users can still see their wallets.`,
  resume: 'Lift the suspension',
  resumeWhat: 'Within a second, calls with its keys are accepted again.',
  usage: 'Usage, 30 days, live',
  calls: 'Calls',
  charged: 'Charged to users',
  cost: 'Provider cost',
  costNote: 'at the catalogue’s prices',
  refused: 'Refused',
  failed: 'Failed',
  models: 'Models',
  model: 'Model',
  noCalls: 'No calls in this period.',
  keys: 'API keys',
  keysWhat: 'Active keys, and the last hundred that have ended. Nobody can see the text of a key again.',
  keyColumns: ['Name', 'Key', 'Mode', 'State', 'Last used'],
  keyStates: { active: 'Active', expired: 'Expired', revoked: 'Revoked' },
  unnamed: 'no name',
  never: 'never',
  noKeys: 'The app has no keys.',
  events: 'Webhook events',
  eventsWhat: 'The latest ten',
  eventColumns: ['When', 'Type', 'State', 'Attempts'],
  noEvents: 'No events in the last 30 days.',
  members: 'Members',
  membersWhat: 'People who may use the app in the console',
  memberColumns: ['E-mail', 'Role', 'Since'],
  noMembers: 'The app has no members.',
} as const;

export const ENTITY_TEXTS = {
  noKey: 'No API key has this ID.',
  noEvent: 'No webhook event has this ID. Events are kept for 30 days, and test events are not kept.',
  key: 'API key',
  event: 'Webhook event',
  facts: 'Facts',
  app: 'App',
  owners: 'Owners',
  mode: 'Mode',
  state: 'State',
  about: 'About the wallet',
  noCalls: 'No calls with this key in 30 days.',
  noOwner: 'nobody',
} as const;

export const TRAIL_TEXTS = {
  columns: ['When', 'Who', 'What', 'On what', 'Why'],
  on: 'What was done to it',
  by: 'What it did',
  latest: 'The latest 20 acts',
  none: 'Nothing yet.',
} as const;

const ROLES: Readonly<Record<OperatorRole | 'owner', string>> = {
  owner: 'App owner',
  viewer: 'Operator: viewer',
  support: 'Operator: support',
  finance: 'Operator: finance',
  admin: 'Operator: admin',
};

export const ACCOUNTS_TEXTS = {
  title: 'Accounts',
  caption: 'Oldest first',
  columns: ['E-mail', 'Role', 'State', 'Second factor', 'Created'],
  roles: ROLES,
  states: { active: 'Active', disabled: 'Disabled', unverified: 'E-mail not verified' },
  on: 'on',
  off: 'off',
  byProvider: 'checked by the provider',
  none: 'There are no accounts.',
  more: 'More accounts',
  first: 'First page',
  findHint: 'To find an account, type its e-mail address into the search.',
  create: 'Create an account',
  createWhat:
    'You vouch for the e-mail address. Do not send the password by e-mail; give it to the person in another way. They can change it in their account.',
  email: 'E-mail',
  name: 'Name',
  password: 'Password',
  passwordHint: '10 to 256 characters of any kind.',
  role: 'Role',
  make: 'Create the account',
} as const;

export const ACCOUNT_TEXTS = {
  noSuch: 'There is no such account.',
  unfit: 'Choose what to do.',
  needsReason: 'Give a reason for the audit trail.',
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
  ]) as ReadonlyMap<string | null, string>,
  facts: 'Facts',
  accountId: 'Account ID',
  apps: 'Apps',
  appsWhat: 'The apps that it is a member of',
  appColumns: ['App', 'Role', 'State'],
  noApps: 'It is not a member of any app.',
  acts: 'Change the account',
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

import type { OperatorRole } from '@purser/contract/operator-access.ts';

/** The texts of the pages about apps. */
export const APPS_TEXTS = {
  title: 'Apps',
  caption: 'The newest first',
  columns: ['Name', 'Owners', 'State', 'Created'],
  query: 'Id, name or a member’s e-mail contains',
  status: 'State',
  all: 'All',
  statuses: { active: 'Active', suspended: 'Suspended' },
  firstParty: 'First party',
  none: 'No app fits.',
  noOwner: 'nobody',
  older: 'Older apps',
  newest: 'Newest apps',
} as const;

export const APP_TEXTS = {
  noSuch: 'There is no such app.',
  done: new Map([
    [
      'changed',
      'The rights and limits were changed. They are in force here now, and in other processes within a second.',
    ],
    ['suspended', 'The app is suspended. Its keys are refused here now, and in other processes within a second.'],
    ['resumed', 'The suspension is lifted. The keys work again within a second.'],
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
  rateBurst: 'Calls at once, after a quiet time',
  maxStreams: 'Streams at once for each user',
  firstParty: 'First party: it may call reserved models',
  yes: 'yes',
  no: 'no',
  reason: 'Reason, for the audit trail',
  change: 'Change rights and limits',
  changeHint: (perMinute: string, burst: string, streams: string) =>
    `Now ${perMinute} calls a minute, ${burst} at once, and ${streams} streams for each user. A change counts for the next call.`,
  suspend: 'Suspend the app',
  suspendWhat: (keys: number) =>
    `Within a second, calls with ${keys === 1 ? 'its one key' : `its ${keys} keys`} are refused. Calls that are running go on and are charged. Its members still see the app, and their users still see their wallets.`,
  resume: 'Lift the suspension',
  resumeWhat: 'Within a second, calls with its keys are admitted again.',
  usage: 'Usage, 30 days, live',
  calls: 'Calls',
  charged: 'Charged to users',
  cost: 'Provider cost',
  costNote: 'by the catalogue’s prices',
  refused: 'Refused',
  failed: 'Failed',
  models: 'Models',
  model: 'Model',
  noCalls: 'No calls in this time.',
  keys: 'API keys',
  keysWhat: 'Those in force, and the hundred that ended last. Nobody can read a key again.',
  keyColumns: ['Name', 'Key', 'Mode', 'State', 'Last used'],
  keyStates: { active: 'Active', expired: 'Expired', revoked: 'Revoked' },
  unnamed: 'no name',
  never: 'never',
  noKeys: 'The app has no key.',
  members: 'Members',
  membersWhat: 'Who may use it in the console',
  memberColumns: ['E-mail', 'Role', 'Since'],
  noMembers: 'The app has no member.',
} as const;

export const TRAIL_TEXTS = {
  columns: ['When', 'Who', 'What', 'On what', 'Why'],
  on: 'What was done to it',
  by: 'What it did',
  latest: 'The latest twenty acts',
  none: 'Nothing yet.',
  tooLow: 'Your role does not see the audit trail.',
} as const;

const ROLES: Readonly<Record<OperatorRole | 'owner', string>> = {
  owner: 'Owner of apps, no operator',
  viewer: 'Operator: viewer',
  support: 'Operator: support',
  finance: 'Operator: finance',
  admin: 'Operator: admin',
};

export const ACCOUNTS_TEXTS = {
  title: 'Accounts',
  caption: 'The oldest first',
  columns: ['E-mail', 'Role', 'State', 'Second factor', 'Created'],
  roles: ROLES,
  states: { active: 'Active', disabled: 'Disabled', unverified: 'E-mail not verified' },
  on: 'on',
  off: 'off',
  none: 'There is no account.',
  more: 'More accounts',
  first: 'First accounts',
  findHint: 'To find one account, type its mail address into the search.',
  create: 'Create an account',
  createWhat:
    'You vouch for the mail address. Tell the person the password by another way than mail; they change it in their account.',
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
  needsReason: 'Say why, for the audit trail.',
  done: new Map([
    ['created', 'The account was created.'],
    ['role', 'The role was changed. All sessions of the account have ended.'],
    ['disable', 'The account is disabled. All its sessions have ended.'],
    ['enable', 'The account can sign in again.'],
    ['vouch', 'You have vouched for the mail address.'],
    [
      'factor',
      'The second factors and recovery codes were removed, and the person was told by mail. All sessions of the account have ended.',
    ],
  ]) as ReadonlyMap<string | null, string>,
  facts: 'Facts',
  accountId: 'Account ID',
  apps: 'Apps',
  appsWhat: 'Of which it is a member',
  appColumns: ['App', 'Role', 'State'],
  noApps: 'A member of no app.',
  reason: 'Reason, for the audit trail',
  acts: 'Change the account',
  role: 'Change the role',
  roleWhat: 'Takes effect with the next request, and ends every session of the account.',
  disable: 'Disable the account',
  disableWhat: (email: string) =>
    `${email} can no longer sign in, and every session ends now. Their apps and keys go on working: suspend an app to stop its calls.`,
  enable: 'Enable the account',
  enableWhat: (email: string) => `${email} can sign in again with the same password and second factor.`,
  vouch: 'Vouch for the mail address',
  vouchWhat: (email: string) =>
    `Counts as if ${email} had opened the link in our mail: the account may make live keys.`,
  factor: 'Remove the second factor',
  factorWhat: (email: string) =>
    `Removes every passkey, authenticator and recovery code of ${email}, and ends every session. Make sure that they are who they say: after this, their password alone opens the account. They are told by mail.`,
} as const;

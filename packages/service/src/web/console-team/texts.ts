const MAY = {
  viewer: 'reads everything and changes nothing',
  developer: 'changes the profile, sandbox, webhook and keys of the sandbox, and no live keys',
  owner: 'does everything that you may, with live keys and the team too',
} as const;

/** The texts of the pages of a team and of invitations. */
export const TEAM_TEXTS = {
  title: 'Team',
  what: 'Who may see and change this app. Keys belong to the app: they stay when the person who made them leaves.',
  members: 'Members',
  columns: ['E-mail', 'Role', 'Since', 'Change'],
  you: 'you',
  roles: { viewer: 'Viewer', developer: 'Developer', owner: 'Owner' },
  role: 'Role',
  roleHint:
    'Viewers read. Developers also change the profile, sandbox, webhook and keys of the sandbox. Owners do everything.',
  make: (role: string) => `Make ${role.toLowerCase()}`,
  remove: 'Remove',
  removeWhat: (email: string) => `${email} loses access with their next request. Keys that they made keep working.`,
  change: (email: string) => `Role of ${email}`,
  invite: 'Invite somebody',
  email: 'E-mail',
  send: 'Send the invitation',
  unfit: 'Type an e-mail address and choose a role.',
  pending: 'Invitations',
  pendingColumns: ['E-mail', 'Role', 'Works until', 'Change'],
  nobody: 'No invitation is open.',
  withdraw: 'Withdraw',
  withdrawOf: (email: string) => `Withdraw the invitation of ${email}`,
  withdrawWhat: 'The link in the mail stops working at once. You can invite them again.',
  own: 'Your own role. Another owner changes it.',
  makeWhat: (email: string, role: 'viewer' | 'developer' | 'owner') =>
    `${email} ${MAY[role]}, from their next request on.`,
  leave: 'Leave this app',
  leaveWhat: 'You lose access at once. An owner can invite you again.',
  noSuch: 'This app has no such member or invitation any more.',
  done: new Map([
    ['invited', 'The invitation was sent. It works for seven days.'],
    ['role', 'The role was changed.'],
    ['removed', 'The member was removed.'],
    ['withdrawn', 'The invitation was withdrawn.'],
  ]) as ReadonlyMap<string | null, string>,
} as const;

export const INVITATION_TEXTS = {
  title: 'Invitation',
  noLink: 'This invitation does not work. It was used, withdrawn, or has expired, or the link is not complete.',
  what: (app: string, role: string) => `You are invited to the team of the app “${app}”, as ${role}.`,
  signIn: (email: string) =>
    `Sign in with the account of ${email}. If you have none, create it and verify its e-mail first.`,
  askAgain: 'Ask the person who invited you for a new one.',
  otherEmail: (invited: string, own: string) =>
    `It is for ${invited}, and you are signed in as ${own}. Sign out here, then sign in with the account of ${invited}. The invitation waits.`,
  signOut: 'Sign out and use another account',
  verifyFirst: (email: string) =>
    `First verify that mail to ${email} reaches you: open the link that we have mailed you, in this browser. You then come back here.`,
  sendAgain: 'Mail the link again',
  toSignIn: 'Sign in',
  toRegister: 'Create an account',
  accept: 'Join the team',
  later: 'Not now',
  toConsole: 'To your apps',
} as const;

export const ACTIVITY_TEXTS = {
  title: 'Activity',
  what: 'What members did with this app: who, when and from where. Network addresses are forgotten after 90 days, the acts are kept.',
  caption: 'Latest acts',
  columns: ['When', 'Who', 'What', 'From'],
  action: 'Act',
  all: 'All',
  none: 'No act fits.',
  changes: 'Details',
  older: 'Older',
  newest: 'Newest',
  nothing: 'none',
} as const;

/** The acts on an app in words, by what they are about. A test compares them with the acts that the code records. */
const ACTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  app: {
    create: 'Created the app',
    edit: 'Changed the settings',
    logo: 'Set the logo',
    'logo-remove': 'Removed the logo',
  },
  key: { create: 'Created a key', edit: 'Changed a key', roll: 'Rolled a key', revoke: 'Revoked a key' },
  webhook: {
    put: 'Set up the webhook',
    secret: 'Replaced the webhook secret',
    delete: 'Removed the webhook',
    test: 'Sent a test event',
    'token.create': 'Made a token for purser listen',
    'token.revoke': 'Revoked a token for purser listen',
  },
  team: {
    invite: 'Invited somebody',
    withdraw: 'Withdrew an invitation',
    join: 'Joined the team',
    role: 'Changed a role',
    remove: 'Removed a member',
    leave: 'Left the team',
  },
  sandbox: { reset: 'Set a test user up', next: 'Chose the next call of a test user' },
  playground: { call: 'Made a live call in the playground' },
};

export const ACT_TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ACTS).flatMap(([about, acts]) => Object.entries(acts).map(([act, text]) => [`${about}.${act}`, text])),
);

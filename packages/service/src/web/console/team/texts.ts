const MAY = {
  viewer: 'can read everything and change nothing',
  developer: 'can change the profile, the sandbox, the webhook and sandbox keys, but not live keys',
  owner: 'can do everything that you can, including live keys and the team',
} as const;

/** The texts of the pages of a team and of invitations. */
export const TEAM_TEXTS = {
  title: 'Team',
  what: 'These people may see and change this app. Keys belong to the app: they stay when the person who made them leaves.',
  members: 'Members',
  columns: ['E-mail', 'Role', 'Since', 'Change'],
  you: 'you',
  roles: { viewer: 'Viewer', developer: 'Developer', owner: 'Owner' },
  role: 'Role',
  roleHint:
    'Viewers can read. Developers can also change the profile, the sandbox, the webhook and sandbox keys. Owners can do everything.',
  make: (role: string) => `Make ${role.toLowerCase()}`,
  remove: 'Remove',
  removeWhat: (email: string) => `${email} loses access from their next request. Keys that they made keep working.`,
  change: (email: string) => `Role of ${email}`,
  invite: 'Invite somebody',
  email: 'E-mail',
  send: 'Send the invitation',
  unfit: 'Enter an e-mail address and choose a role.',
  pending: 'Invitations',
  pendingColumns: ['E-mail', 'Role', 'Expires', 'Change'],
  nobody: 'There are no open invitations.',
  withdraw: 'Withdraw',
  withdrawOf: (email: string) => `Withdraw the invitation for ${email}`,
  withdrawWhat: 'The link in the e-mail stops working at once. You can invite them again.',
  own: 'This is your own role. Only another owner can change it.',
  makeWhat: (email: string, role: 'viewer' | 'developer' | 'owner') =>
    `From their next request, ${email} ${MAY[role]}.`,
  leave: 'Leave this app',
  leaveWhat: 'You lose access at once. An owner can invite you again.',
  noSuch: 'This app no longer has this member or invitation.',
  done: new Map([
    ['invited', 'The invitation was sent. It works for seven days.'],
    ['role', 'The role was changed.'],
    ['removed', 'The member was removed.'],
    ['withdrawn', 'The invitation was withdrawn.'],
  ]) as ReadonlyMap<string | null, string>,
} as const;

export const INVITATION_TEXTS = {
  title: 'Invitation',
  noLink: 'This invitation does not work. It has been used or withdrawn, it has expired, or the link is incomplete.',
  what: (app: string, role: string) => `You are invited to the team of the app “${app}” in the role of ${role}.`,
  signIn: (email: string) =>
    `Sign in with the account of ${email}. If you do not have one, create it and verify its e-mail address first.`,
  askAgain: 'Ask the person who invited you for a new one.',
  otherEmail: (invited: string, own: string) =>
    `This invitation is for ${invited}, and you are signed in as ${own}. Sign out here, then sign in with the account of ${invited}. The invitation stays open.`,
  signOut: 'Sign out and use another account',
  verifyFirst: (email: string) =>
    `First verify your e-mail address, ${email}: open the link that we have sent you in this browser. You then come back here.`,
  sendAgain: 'Send the link again',
  toSignIn: 'Sign in',
  toRegister: 'Create an account',
  accept: 'Join the team',
  later: 'Not now',
  toConsole: 'Go to your apps',
} as const;

export const ACTIVITY_TEXTS = {
  title: 'Activity',
  what: 'What members did with this app, when and from where. Network addresses are deleted after 90 days. The rest is kept.',
  caption: 'Latest activity',
  columns: ['When', 'Who', 'What', 'From'],
  action: 'Kind',
  all: 'All',
  none: 'No activity matches.',
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
  key: {
    create: 'Created a key',
    edit: 'Changed a key',
    roll: 'Rolled a key',
    revoke: 'Revoked a key',
    stop: 'Stopped a key that spent from their wallet',
  },
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
  sandbox: {
    reset: 'Set up a test user',
    next: 'Set the outcome of a test user’s next call',
    'token.create': 'Made a test token',
    'token.revoke': 'Revoked a test token',
  },
  playground: { call: 'Made a live call in the playground' },
};

export const ACT_TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ACTS).flatMap(([about, acts]) => Object.entries(acts).map(([act, text]) => [`${about}.${act}`, text])),
);

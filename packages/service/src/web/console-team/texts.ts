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
  subject: 'on',
  older: 'Older',
  newest: 'Newest',
  nothing: 'none',
} as const;

/** Each act on an app in words. A test compares them with the acts that the code records. */
export const ACT_TEXTS: Readonly<Record<string, string>> = {
  'app.create': 'Created the app',
  'app.edit': 'Changed the settings',
  'app.logo': 'Set the logo',
  'app.logo-remove': 'Removed the logo',
  'key.create': 'Created a key',
  'key.edit': 'Changed a key',
  'key.roll': 'Rolled a key',
  'key.revoke': 'Revoked a key',
  'webhook.put': 'Set up the webhook',
  'webhook.secret': 'Replaced the webhook secret',
  'webhook.delete': 'Removed the webhook',
  'webhook.test': 'Sent a test event',
  'webhook.token.create': 'Made a token for purser listen',
  'webhook.token.revoke': 'Revoked a token for purser listen',
  'team.invite': 'Invited somebody',
  'team.withdraw': 'Withdrew an invitation',
  'team.join': 'Joined the team',
  'team.role': 'Changed a role',
  'team.remove': 'Removed a member',
  'team.leave': 'Left the team',
  'sandbox.reset': 'Set a test user up',
  'sandbox.next': 'Chose the next call of a test user',
  'playground.call': 'Made a live call in the playground',
};

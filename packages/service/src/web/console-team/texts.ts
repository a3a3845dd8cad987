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

/** The texts of the frame of the pages for operators. Each room of pages has its own besides. */
export const OPS_TEXTS = {
  console: 'Operations',
  sections: 'Pages for operators',
  path: 'Where you are',
  noSuch: 'Not found',
  find: 'Find by id or address',
  yourRole: 'Your role:',
  roles: { viewer: 'viewer', support: 'support', finance: 'finance', admin: 'admin' },
  tooLow: 'Your role does not allow changes here. Ask an admin of the service.',
  proveFirst: 'Prove first that it is you. That counts for ten minutes.',
  prove: 'Prove that it is you',
  unsentTitle: 'Not done yet',
  unsent:
    'Your last proof that it is you is older than ten minutes, so nothing was done. What you typed is on this page and is not lost. Prove that it is you in another tab, come back to this one, and send it.',
  fileAgain: 'Choose the file again',
  send: 'Send it now',
  back: 'Back without sending it',
  needsFactor: 'Operators need a second factor here. Add a passkey or an authenticator app to your account first.',
  needsSso: (name: string) => `Operators sign in through ${name} here. Your account has a password.`,
  linkAccount: 'Link your account',
  addFactor: 'Add a second factor',
  toConsole: 'To your apps',
} as const;

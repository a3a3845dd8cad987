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
  needsFactor: 'Operators need a second factor here. Add a passkey or an authenticator app to your account first.',
  needsSso: (name: string) => `Operators sign in through ${name} here. Your account has a password.`,
  linkAccount: 'Link your account',
  addFactor: 'Add a second factor',
  toConsole: 'To your apps',
} as const;

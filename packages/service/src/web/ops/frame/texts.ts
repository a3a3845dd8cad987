/** The texts of the frame of the pages for operators. Each room of pages has its own besides. */
export const OPS_TEXTS = {
  console: 'Operations',
  roles: { viewer: 'viewer', support: 'support', finance: 'finance', admin: 'admin' },
  tooLow: 'Your role does not allow changes here. Ask an admin of the service.',
  proveFirst: 'Please confirm first that it is you. This is valid for ten minutes.',
  prove: 'Confirm that it is you',
  unsent:
    'Nothing was done, because you last confirmed that it is you more than ten minutes ago. What you typed is still on this page. Confirm that it is you in another tab, come back to this one, and send the form.',
  fileAgain: 'Choose the file again',
  reason: 'Reason, for the audit trail',
  needsFactor:
    'Operators of this service need a second factor. Add a passkey or an authenticator app to your account first.',
  needsSso: (name: string) => `Operators of this service sign in through ${name}. Your account still uses a password.`,
} as const;

/** The texts of the page at the root of the service. */
export const START_TEXTS = {
  title: (operatorName: string) => `Welcome to ${operatorName}`,
  /** This section comes first in production, because most people who come here by themselves look for their money. */
  wallet: {
    heading: 'You pay for an app from your wallet',
    what: 'See your balance, what each app has spent, and what it may do.',
    link: 'Go to your wallet',
    guide: 'How a wallet works',
  },
  account: {
    heading: 'You build an app',
    what: 'Get a key, try the sandbox, and let your users pay for what they use.',
    create: 'Create an account',
    signIn: 'Sign in to the console',
    guides: 'Guides',
    reference: 'API reference',
  },
  mailbox: {
    what: 'This is a development service. It keeps the e-mails that it sends.',
    link: 'Open the mailbox',
  },
  operator: {
    what: 'Do you run this service?',
    link: 'Operator sign-in',
  },
} as const;

/** The texts of the page at the root of the service. */
export const START_TEXTS = {
  title: (operatorName: string) => `Welcome to ${operatorName}`,
  /** First in production, because most people who come here by themselves look for their money. */
  wallet: {
    heading: 'You use an app that is paid from a wallet',
    what: 'See your balance, what was spent, and what each app may do.',
    link: 'To your wallet',
  },
  account: {
    heading: 'You build an app',
    what: 'Get a key, try the sandbox, and let the users of your app pay for what they use.',
    create: 'Create an account',
    signIn: 'Sign in to the console',
    guides: 'Guides',
    reference: 'API reference',
  },
  mailbox: {
    what: 'This is a development service: it keeps its mail.',
    link: 'Open the mailbox',
  },
  operator: {
    what: 'You run this service?',
    link: 'Operator sign-in',
  },
} as const;

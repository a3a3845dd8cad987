/** The texts of the page at the root of the service. */
export const START_TEXTS = {
  title: (operatorName: string) => `Welcome to ${operatorName}`,
  /** First, because most people who come here by themselves look for their money. */
  wallet: {
    heading: 'You use an app that is paid from a wallet',
    what: 'See your balance, what was spent, and what each app may do.',
    link: 'To your wallet',
  },
  account: {
    heading: 'You build an app',
    what: 'Sign in to the account with your apps and keys, or read how to call the API.',
    link: 'To your account',
    reference: 'API reference',
  },
} as const;

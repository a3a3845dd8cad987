/** What the page at the root of the service says. */
export const START_TEXTS = {
  title: (operatorName: string) => `Welcome to ${operatorName}`,
  wallet: {
    heading: 'You use an app that is paid from a wallet',
    what: 'See what is in it, what was spent, and what each app may do.',
    link: 'To your wallet',
  },
  account: {
    heading: 'You build an app',
    what: 'Sign in to the account that your apps and keys belong to, or read how they are called.',
    link: 'To your account',
    reference: 'API reference',
  },
} as const;

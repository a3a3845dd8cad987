/** The texts of pages that a signed link leads to. */
export const LINK_TEXTS = {
  /** The way from a refused call to a wallet with money in it. */
  steps: ['Sign in', 'Connect', 'Top up'],
  backTo: (app: string) => `Back to ${app}`,

  voidTitle: 'This link no longer works',
  voidLink: 'A link like this works for 15 minutes and for one payment.',
  voidAdvice:
    'Go back to the app and try again: it will give you a new link. If you connected this account before, sign in with the e-mail address of that time. Money that you have already paid is in your wallet.',
  toWallet: 'Go to your wallet',

  sandboxTitle: 'This is the sandbox',
  sandbox: 'The app used a test key. Test calls spend play money, so there is nothing to connect and nothing to pay.',
  sandboxForDevelopers:
    'With a live key, this link takes the users of your app to the page where they connect and top up a wallet.',

  suspendedTitle: (app: string) => `${app} is suspended here`,
  suspended: (app: string) =>
    `${app} cannot spend from any wallet at the moment, so you cannot connect it or pay for it.`,
  suspendedAdvice: 'Please ask the people who make the app. Money in your wallet stays there.',

  signedInAs: 'Signed in as',
  notYou: 'Not you? Use another e-mail',
} as const;

/** The texts that pages of a wallet share. */
export const OWNED_WALLET_TEXTS = {
  allApps: 'All apps',
  notFoundTitle: 'There is nothing here',
  notFound: 'Your wallet has no such page. It may belong to a wallet that you opened with another e-mail address.',
} as const;

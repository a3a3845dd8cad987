/** What the pages say that a signed link leads to, whoever made them. */
export const LINK_TEXTS = {
  voidTitle: 'This link does not work any more',
  voidLink: 'Links like this one are good for 15 minutes, and for one payment.',
  voidAdvice:
    'Go back to the app and try again there: it gives you a new one. What you have paid before is in the wallet.',
  toWallet: 'To your wallet',

  sandboxTitle: 'This is the sandbox',
  sandbox:
    'The app called with a test key. Test calls spend play money, so there is nothing to connect and nothing to pay.',
  sandboxForDevelopers:
    'With a live key, this link leads the user of your app to the page where a wallet is connected and topped up.',

  suspendedTitle: (app: string) => `${app} is paused here`,
  suspended: (app: string) => `${app} cannot spend from any wallet at the moment, so nothing can be connected or paid.`,
  suspendedAdvice: 'Ask the people who make the app. Money that is in a wallet stays there.',

  foreignTitle: 'Another wallet pays for this account',
  foreign: (app: string) =>
    `This account at ${app} belongs to somebody who signed in with another e-mail. It stays so, and you see nothing of that wallet.`,
  foreignAdvice: 'If that is you, sign in with the e-mail that you used before.',

  signedInAs: 'Signed in as',
  notYou: 'Not you? Sign in with another e-mail',
} as const;

/** What the pages under `/wallet` say when there is nothing for this visitor. */
export const NOTHING_HERE_TEXTS = {
  title: 'There is nothing here',
  notFound: 'There is no such page in your wallet. It may belong to another sign-in of yours.',
  allApps: 'All apps',
} as const;

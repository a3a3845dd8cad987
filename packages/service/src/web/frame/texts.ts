/** The texts of every page's header and footer. Each room's texts are in one file, so that a translation can stand beside it. */
export const FRAME_TEXTS = {
  /** The language of all texts, for browsers and screen readers. */
  language: 'en',
  errorPrefix: 'Error: ',
  testMoney: 'Test processor: no real money moves',
  runBy: (operatorName: string) => `This page is run by ${operatorName}.`,
  questions: 'Questions?',
  status: 'Status',
  /** The header of the pages of app owners. */
  service: 'Service',
  apps: 'Your apps',
  guides: 'Guides',
  reference: 'API reference',
  operations: 'Operations',
  account: 'Account',
  signIn: 'Sign in',
  signOut: 'Sign out',
} as const;

/** The texts of pages that report a refusal or a fault. */
export const REFUSAL_TEXTS = {
  refusedTitle: 'This did not work',
  failedTitle: 'Something went wrong',
  reference: (correlationId: string) => `Reference: ${correlationId}`,
  failed: 'Something failed on our side. Please try again. If it keeps happening, contact us and quote the reference.',
  foreign: 'This form was not sent from a page of this service.',
  outOfDate: 'This form has expired, or your browser blocks cookies. Open the page again and send the form once more.',
  oddAddress: 'This address contains a character that is not allowed here. Open the page from a link on this site.',
  nowhereTitle: 'There is nothing here',
  nowhere: 'This page does not exist. Check the address, or go to the start page.',
  toStart: 'Go to the start page',
  toAccount: 'Go to your account',
  toWallet: 'Go to your wallet',
} as const;

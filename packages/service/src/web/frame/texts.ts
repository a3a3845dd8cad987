/** What stands around every page. Texts lie in this folder, so that another language can stand beside them. */
export const FRAME_TEXTS = {
  /** Of all texts here, as browsers and screen readers are told. */
  language: 'en',
  errorPrefix: 'Error: ',
  testMoney: 'Test processor: no real money moves',
  runBy: (operatorName: string) => `This page is run by ${operatorName}.`,
  questions: 'Questions?',
  logoOf: (name: string) => `Logo of ${name}`,
} as const;

/** Of pages that tell of a refusal or a fault, of whatever kind. */
export const REFUSAL_TEXTS = {
  refusedTitle: 'This did not work',
  failedTitle: 'Something went wrong',
  reference: (correlationId: string) => `Reference: ${correlationId}`,
  failed: 'This failed on our side. Try again; if it stays so, tell us the reference.',
  foreign: 'This form was not sent from a page of this service.',
  outOfDate: 'This form is out of date, or your browser keeps no cookies. Open the page again and send it once more.',
  toAccount: 'To your account',
  toWallet: 'To your wallet',
} as const;

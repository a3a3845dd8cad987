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

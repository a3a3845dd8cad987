/** What every page of people with wallets says. Texts lie in this folder, so that another language can stand beside them. */
export const FRAME_TEXTS = {
  testMoney: 'Test processor: no real money moves',
} as const;

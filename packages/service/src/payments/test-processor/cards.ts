/** What happens to a payment with a test card, at once and later. */
interface TestCard {
  readonly number: string;
  /** The card pays, is declined, or pays after a second step. */
  readonly answer: 'paid' | 'declined' | 'confirm';
  /** What the bank does with the payment later, one thing after the other. */
  readonly later: readonly LaterAct[];
  readonly takesRefunds: boolean;
}

type LaterAct = 'refund.made' | 'chargeback.made' | 'chargeback.won';

const PLAIN = { answer: 'paid', later: [], takesRefunds: true } as const;

/** The cards that the test processor accepts. */
export const TEST_CARDS = {
  success: { ...PLAIN, number: '4242424242424242' },
  decline: { ...PLAIN, number: '4000000000000002', answer: 'declined' },
  confirm: { ...PLAIN, number: '4000000000003220', answer: 'confirm' },
  refund: { ...PLAIN, number: '4000000000007726', later: ['refund.made'] },
  chargeback: { ...PLAIN, number: '4000000000000259', later: ['chargeback.made'] },
  chargeback_won: { ...PLAIN, number: '4000000000002685', later: ['chargeback.made', 'chargeback.won'] },
  no_refunds: { ...PLAIN, number: '4000000000005126', takesRefunds: false },
} as const satisfies Record<string, TestCard>;

export type TestCardName = keyof typeof TEST_CARDS;

/** The names of all cards, in the order in which the page shows them. */
export const TEST_CARD_NAMES = Object.keys(TEST_CARDS) as readonly TestCardName[];

/**
 * The card with this number, typed with or without spaces. Undefined for any other number. A number goes no further than
 * this function, because somebody may type a real one.
 */
export function testCardOf(typed: string): TestCardName | undefined {
  const digits = typed.replaceAll(/[ -]/g, '');
  return TEST_CARD_NAMES.find((name) => TEST_CARDS[name].number === digits);
}

/** How the file of a function begins that real and play money both have. */
const OF_BOTH = /^create or replace function money\./im;

/** The two schemas of money. A line that ends by naming one money is left out of the function of the other. */
const MONEYS = [
  { schema: 'ledger', role: 'purser_live', others: /^.* -- Play money\.$/gm },
  { schema: 'sandbox', role: 'purser_sandbox', others: /^.* -- Real money\.$/gm },
];

/**
 * The functions that a file makes: one, or two of one text where it writes `money` for the schema. Lines that are left out stay empty, so that
 * a fault of the database tells the line of the file.
 */
export function functionTexts(file: string): readonly string[] {
  if (!OF_BOTH.test(file)) return [file];
  return MONEYS.map(({ schema, role, others }) =>
    file
      .replaceAll(others, '')
      .replaceAll(/\bmoney\.(?=[a-z])/g, `${schema}.`)
      .replaceAll('purser_money', role),
  );
}

/** How often a repeating test repeats: twice, or as often as `npm test -- --rounds` says. */
export const ROUNDS = Number(process.env['PURSER_TEST_ROUNDS'] ?? 2);

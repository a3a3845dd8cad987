/** How often a test that repeats itself does so: a few times, or as `npm test -- --rounds` says. */
export const ROUNDS = Number(process.env['PURSER_TEST_ROUNDS'] ?? 3);

/** Returns the environment of this process for a service that a test starts: without settings, and without what the test runner sets. */
export function outerEnvironment(): Readonly<Record<string, string | undefined>> {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('PURSER_') && name !== 'NODE_TEST_CONTEXT' && name !== 'DATABASE_URL',
  );
  return Object.fromEntries(own);
}

/** A gate that many can wait for and one opens. */
export type Gate = ReturnType<typeof createGate>;

export function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Something that is opened when it is first needed. */
interface Late<Thing> {
  /** Opens it, once for all who need it. If that fails, the next who needs it tries again. */
  readonly get: () => Promise<Thing>;
  /** What was opened. It is undefined if nobody has needed it. */
  readonly opened: () => Promise<Thing | undefined>;
}

export function createLate<Thing>(open: () => Promise<Thing>): Late<Thing> {
  let opening: Promise<Thing> | undefined;
  return {
    get: () =>
      (opening ??= open().catch((fault: unknown) => {
        opening = undefined;
        throw fault;
      })),
    opened: async () => opening?.catch(() => undefined),
  };
}

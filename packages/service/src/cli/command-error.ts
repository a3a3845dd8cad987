/** A command that cannot do what was asked. The message says why; it is shown without a stack. */
export class CommandError extends Error {}

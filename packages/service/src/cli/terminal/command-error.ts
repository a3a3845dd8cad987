/** A command that cannot do what was asked. The message says why; it is shown without a stack. */
export class CommandError extends Error {}

/** Words after a command that make no sense. Nothing was done, and the exit status is 2. */
export class UsageError extends CommandError {}

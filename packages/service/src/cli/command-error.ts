/** A command that cannot do what it was told: the message says why. */
export class CommandError extends Error {}

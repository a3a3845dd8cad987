/** Something outside the service that keeps it from starting: the message says what, and what to do about it. */
export class StartError extends Error {}

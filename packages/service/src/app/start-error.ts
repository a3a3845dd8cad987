/** A cause outside the service that keeps it from starting. The message says what it is and what to do about it. */
export class StartError extends Error {}

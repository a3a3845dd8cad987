/** A month that cannot be closed, archived, detached or brought back: the message says why and what to do. */
export class MonthFault extends Error {}

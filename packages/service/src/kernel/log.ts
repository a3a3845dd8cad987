import { type Logger, pino } from 'pino';

/**
 * One line of JSON an event. Fields are facts about a call (codes, ids, durations); prompts, completions, keys, e-mail
 * addresses and provider texts are never passed here (ER-03).
 */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Lines go to the standard output, or to `destination` where one is given. */
export function createLog(level: LogLevel, destination?: { readonly write: (line: string) => void }): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return destination === undefined ? pino(options) : pino(options, destination);
}

interface FaultDescription {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: FaultDescription;
}

/** A fault as a log line may show it: name, message, stack, and the same of its cause; never a request body. */
export function describeFault(fault: unknown): FaultDescription {
  if (!(fault instanceof Error)) return { name: 'NonError', message: typeof fault };
  return {
    name: fault.name,
    message: fault.message,
    ...(fault.stack === undefined ? {} : { stack: fault.stack }),
    ...(fault.cause === undefined ? {} : { cause: describeFault(fault.cause) }),
  };
}

import { type Logger, pino } from 'pino';

/**
 * Writes one line of JSON per event. Fields are facts about a call: codes, ids, durations. Never pass prompts, completions,
 * keys, e-mail addresses or provider texts (ER-03).
 */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Creates a log that writes to standard output, or to `destination` when one is given. */
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

/**
 * Describes a fault for a log line: name, message, stack, and the same of its cause. Other properties are left out, because
 * libraries attach requests, statement parameters and configuration to their errors.
 */
export function describeFault(fault: unknown): FaultDescription {
  // A thrown value that is not an error may be anything, a body included: log only its type.
  if (!(fault instanceof Error)) return { name: 'NonError', message: typeof fault };
  return {
    name: fault.name,
    message: fault.message,
    ...(fault.stack === undefined ? {} : { stack: fault.stack }),
    ...(fault.cause === undefined ? {} : { cause: describeFault(fault.cause) }),
  };
}

import { type Logger, pino } from 'pino';

/**
 * Writes one line of JSON per event. Fields are facts about a call: codes, ids, durations. Never pass prompts, completions,
 * keys, e-mail addresses or provider texts (ER-03).
 */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

const STANDARD_OUTPUT = 1;
const PINO_WARN = 40;
/**
 * Lines are collected until they fill this, because every call has one, and a system call for each would cost more than the
 * line. With the longest usual line, a write stays below 4,096 bytes: pipes keep those of several processes apart.
 */
const COLLECTED_BYTES_MAX = 3_072;
const COLLECTED_MS_MAX = 250;

/**
 * Creates a log that writes to standard output, or to `destination` when one is given. On standard output, a line may wait
 * for a quarter of a second. A warning or an error does not, and takes the lines before it along.
 */
export function createLog(level: LogLevel, destination?: { readonly write: (line: string) => void }): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (name: string) => ({ level: name }) }, // As a word. Made once for each level, not for each line.
  };
  if (destination !== undefined) return pino(options, destination);
  const output = (standardOutput ??= openStandardOutput());
  return pino(
    {
      ...options,
      hooks: {
        logMethod(line, method, severity) {
          method.apply(this, line);
          if (severity >= PINO_WARN) output.flushSync();
        },
      },
    },
    output,
  );
}

/** One for all logs of the process, so that their lines stay in order, and the process has one listener for its exit. */
let standardOutput: ReturnType<typeof openStandardOutput> | undefined;

function openStandardOutput() {
  const output = pino.destination({
    dest: STANDARD_OUTPUT,
    sync: true,
    minLength: COLLECTED_BYTES_MAX,
    periodicFlush: COLLECTED_MS_MAX,
  });
  process.on('exit', () => output.flushSync());
  return output;
}

interface FaultDescription {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: FaultDescription;
}

/** Codes of a network or disk, and of a database server that is away, full or refuses everybody: an operator mends these. */
const NOT_OURS =
  /^(?:ECONN\w+|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|ENOTFOUND|EAI_AGAIN|ENOSPC|EDQUOT|EACCES|EROFS|EIO|ERR_TLS_\w+|CERT_\w+|57P\d\d|08\w{3}|28\w{3}|3D000|53\w{3})$/;
/** What the driver of the database says, without a code, of a connection that ended. */
const ENDED = /^(?:Connection terminated|timeout exceeded when trying to connect)/;

/** An error with this mark tells of somebody else's fault, such as a provider's. */
interface Outside {
  readonly isOutside: true;
}

/**
 * Describes a fault for a log line: name, message, stack, and the same of its cause. There is no stack of a fault that lies outside
 * this service. Other properties are left out, because libraries attach requests, statement parameters and configuration to their
 * errors.
 */
export function describeFault(fault: unknown): FaultDescription {
  // A thrown value that is not an error may be anything, a body included: log only its type.
  if (!(fault instanceof Error)) return { name: 'NonError', message: typeof fault };
  return {
    name: fault.name,
    message: fault.message,
    ...(fault.stack === undefined || isOutside(fault) ? {} : { stack: fault.stack }),
    ...(fault.cause === undefined ? {} : { cause: describeFault(fault.cause) }),
  };
}

function isOutside(fault: Error): boolean {
  const { isOutside: isMarked } = fault as Partial<Outside>;
  if (isMarked === true || ENDED.test(fault.message)) return true;
  return 'code' in fault && typeof fault.code === 'string' && NOT_OURS.test(fault.code);
}

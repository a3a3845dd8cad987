import type { IncomingMessage, ServerResponse } from 'node:http';
import { type SteadyClock, steadyClock } from '#kernel/time/clock.ts';

interface DropLimits {
  /** Bytes of one body that are taken off the line and dropped. */
  readonly bytesMax: number;
  readonly dropMsMax: number;
  /** How long a caller may send nothing. After that, they are either reading the answer or gone. */
  readonly silentMsMax: number;
  /** Connections whose bodies are dropped at the same time. Beyond it answers are sent at once. */
  readonly connectionsMax: number;
  /** Bytes that all connections together may have dropped at once. Then they get as many a second as `bytesPerSecond`. */
  readonly burstBytes: number;
  readonly bytesPerSecond: number;
}

const LIMITS: DropLimits = {
  bytesMax: 134_217_728, // Twice the 64 MB that stock clients must be able to send and still read the answer.
  dropMsMax: 30_000, // As long as a request may take in all.
  silentMsMax: 5_000,
  connectionsMax: 256,
  burstBytes: 268_435_456, // Four such clients at the same time.
  bytesPerSecond: 33_554_432, // A few hundredths of the time of a process: dropping must not keep callers waiting.
};

/**
 * These limits are for requests without credentials, which never come from a client that works. Taking a megabyte off
 * the line costs the process more than a paid call: so strangers get this much, and then their connections are closed
 * at once (CP-11).
 */
const STRANGER_LIMITS: DropLimits = {
  ...LIMITS,
  connectionsMax: 64,
  burstBytes: 8_388_608,
  bytesPerSecond: 2_097_152,
};

/** Ends an answer whose body is `text`. Its length must be declared. */
type EndAfterBody = (request: IncomingMessage, response: ServerResponse, text: string) => void;

/**
 * Sends an answer to a request whose body has not been read, and takes the rest of the body off the line before it closes
 * the connection. The system answers bytes that nobody reads with a reset, and a reset destroys the answer that the caller
 * has not read yet: a client that sends before it reads would see a broken pipe and no 413 (CC-06). Every part is dropped as
 * it arrives, so memory does not grow with the body.
 */
export function createEndAfterBody(limits: DropLimits, clock: SteadyClock = steadyClock): EndAfterBody {
  const budget = createByteBudget(limits, clock);
  let dropping = 0;
  return (request, response, text) => {
    if (dropping >= limits.connectionsMax || !budget.take(0)) {
      response.end(text);
      return;
    }
    dropping += 1;
    response.write(text); // For the caller, the answer is complete. Only `end` closes the connection.
    const onEnd = () => {
      dropping -= 1;
      response.end();
    };
    dropBody({ request, response, limits, budget, onEnd });
  };
}

interface ByteBudget {
  /** Takes the bytes. False if there is nothing left. */
  readonly take: (bytes: number) => boolean;
}

/** Creates a budget that all connections share, so that an attacker with many of them costs no more than one. */
function createByteBudget({ burstBytes, bytesPerSecond }: DropLimits, clock: SteadyClock): ByteBudget {
  let left = burstBytes;
  let refilledAtMs = clock.nowMs();
  return {
    take: (bytes) => {
      const nowMs = clock.nowMs();
      left = Math.min(burstBytes, left + ((nowMs - refilledAtMs) * bytesPerSecond) / 1_000) - bytes;
      refilledAtMs = nowMs;
      return left > 0;
    },
  };
}

interface Dropping {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly limits: DropLimits;
  readonly budget: ByteBudget;
  readonly onEnd: () => void;
}

function dropBody({ request, response, limits, budget, onEnd }: Dropping): void {
  let dropped = 0;
  let isDone = false;
  const finish = () => {
    if (isDone) return;
    isDone = true;
    clearTimeout(last);
    clearTimeout(silent);
    request.off('data', drop);
    onEnd();
  };
  const last = setTimeout(finish, limits.dropMsMax);
  const silent = setTimeout(finish, limits.silentMsMax);
  const drop = (part: Buffer) => {
    dropped += part.length;
    if (dropped > limits.bytesMax || !budget.take(part.length)) finish();
    else silent.refresh();
  };
  request.on('data', drop);
  for (const end of ['end', 'close', 'error']) request.on(end, finish);
  response.on('close', finish);
  request.resume();
}

const endAs = { known: createEndAfterBody(LIMITS), stranger: createEndAfterBody(STRANGER_LIMITS) };

export const endAfterBody: EndAfterBody = (request, response, text) => {
  const end = request.headers.authorization === undefined ? endAs.stranger : endAs.known;
  end(request, response, text);
};

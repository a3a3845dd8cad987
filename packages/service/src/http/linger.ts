import type { IncomingMessage, ServerResponse } from 'node:http';

interface LingerLimits {
  /** Bytes of one body that are taken off the line and dropped. */
  readonly bytesMax: number;
  readonly lingerMsMax: number;
  /** A caller who sends nothing for so long is either reading the answer or gone. */
  readonly silentMsMax: number;
  /** Connections that linger at the same time. Beyond it answers are sent without lingering. */
  readonly connectionsMax: number;
}

const LIMITS: LingerLimits = {
  bytesMax: 134_217_728, // Twice the 64 MB that stock clients must be able to send and still read the answer.
  lingerMsMax: 30_000, // As long as a request may take in all.
  silentMsMax: 5_000,
  connectionsMax: 256,
};

/** Ends an answer whose body is `text`. Its length must be declared. */
type EndAfterBody = (request: IncomingMessage, response: ServerResponse, text: string) => void;

/**
 * Sends an answer to a request whose body has not been read, and takes the rest of the body off the line before it closes
 * the connection. The system answers bytes that nobody reads with a reset, and a reset destroys the answer that the caller
 * has not read yet: a client that sends before it reads would see a broken pipe and no 413 (CC-06). Every part is dropped as
 * it arrives, so memory does not grow with the body.
 */
export function createEndAfterBody(limits: LingerLimits): EndAfterBody {
  let lingering = 0;
  return (request, response, text) => {
    if (lingering >= limits.connectionsMax) {
      response.end(text);
      return;
    }
    lingering += 1;
    response.write(text); // For the caller, the answer is complete. Only `end` closes the connection.
    dropBody(request, response, limits, () => {
      lingering -= 1;
      response.end();
    });
  };
}

function dropBody(request: IncomingMessage, response: ServerResponse, limits: LingerLimits, onEnd: () => void): void {
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
  const last = setTimeout(finish, limits.lingerMsMax);
  const silent = setTimeout(finish, limits.silentMsMax);
  const drop = (part: Buffer) => {
    dropped += part.length;
    if (dropped > limits.bytesMax) finish();
    else silent.refresh();
  };
  request.on('data', drop);
  for (const end of ['end', 'close', 'error']) request.on(end, finish);
  response.on('close', finish);
  request.resume();
}

export const endAfterBody = createEndAfterBody(LIMITS);

import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** 1 MiB (CC-06). */
const BODY_BYTES_MAX = 1_048_576;

const EMPTY = Buffer.alloc(0);

type ReadBody = Buffer | Refusal<'PAYLOAD_TOO_LARGE' | 'BAD_REQUEST'> | undefined;

/**
 * Reads a body to its end. A body above the limit is refused as soon as that is known, declared or not, without reading on.
 * A compressed body is refused at once and never inflated: 1 MiB could inflate to a gigabyte (CC-06). Undefined if the
 * caller left halfway. Returns without a promise if there is nothing to wait for, because this is on the hot path.
 */
export function readBody(request: IncomingMessage): ReadBody | Promise<ReadBody> {
  const compressed = compressedRefusal(request);
  if (compressed !== undefined) return compressed;
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > BODY_BYTES_MAX) return tooLarge();
  if (declared === undefined && request.headers['transfer-encoding'] === undefined) return EMPTY;
  return collect(request);
}

/** The refusal of a compressed body; undefined for any other. */
export function compressedRefusal({ headers }: Pick<IncomingMessage, 'headers'>): Refusal<'BAD_REQUEST'> | undefined {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return undefined;
  return refuse('BAD_REQUEST', 'The body must not be compressed: send it without `content-encoding`.', {
    param: 'content-encoding',
  });
}

/** By events, not by `for await`: an iterator would destroy the request, and with it the connection, on a refusal. */
function collect(request: IncomingMessage): Promise<ReadBody> {
  return new Promise((resolve) => {
    let whole: Buffer = EMPTY; // Most bodies arrive in one part, which need not be copied.
    let more: Buffer[] | undefined;
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > BODY_BYTES_MAX) {
        // The refusal is answered now. `sendRefusal` closes the connection, so the rest need not be read.
        request.removeAllListeners('data');
        request.pause();
        resolve(tooLarge());
      } else if (bytes === part.length) {
        whole = part;
      } else {
        more ??= [whole];
        more.push(part);
      }
    });
    request.on('end', () => {
      resolve(more === undefined ? whole : Buffer.concat(more, bytes));
      // The listeners keep this scope alive until the answer ends, so a long stream would keep the body's bytes too.
      [whole, more] = [EMPTY, undefined];
    });
    // After `end` this changes nothing. Before it, the caller has left.
    request.on('close', () => resolve(undefined));
  });
}

function tooLarge(): Refusal<'PAYLOAD_TOO_LARGE'> {
  return refuse('PAYLOAD_TOO_LARGE', `The body is above the limit of ${BODY_BYTES_MAX} bytes.`);
}

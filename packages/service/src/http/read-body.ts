import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** 1 MB, as decided in CC-06. */
const BODY_BYTES_MAX = 1_048_576;

const EMPTY = Buffer.alloc(0);

type ReadBody = Buffer | Refusal<'PAYLOAD_TOO_LARGE' | 'BAD_REQUEST'> | undefined;

/**
 * Reads a body to its end, or refuses it: above the limit as soon as that is seen, declared or not, without reading on;
 * compressed ones at once, never inflated (CC-06). Undefined when the caller left halfway.
 */
export function readBody(request: IncomingMessage): ReadBody | Promise<ReadBody> {
  const compressed = compressedRefusal(request);
  if (compressed !== undefined) return compressed;
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > BODY_BYTES_MAX) return tooLarge();
  if (declared === undefined && request.headers['transfer-encoding'] === undefined) return EMPTY;
  return collect(request);
}

/** Undefined: the body comes as it is. */
export function compressedRefusal({ headers }: Pick<IncomingMessage, 'headers'>): Refusal<'BAD_REQUEST'> | undefined {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return undefined;
  return refuse('BAD_REQUEST', 'The body must not be compressed: send it without `content-encoding`.', {
    param: 'content-encoding',
  });
}

function collect(request: IncomingMessage): Promise<ReadBody> {
  return new Promise((resolve) => {
    let whole: Buffer = EMPTY; // Most bodies come in one part, which is not copied.
    let more: Buffer[] | undefined;
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > BODY_BYTES_MAX) {
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
      [whole, more] = [EMPTY, undefined]; // A request is there for as long as its answer is under way.
    });
    // After its end, which nothing changes any more, or because the caller has left.
    request.on('close', () => resolve(undefined));
  });
}

function tooLarge(): Refusal<'PAYLOAD_TOO_LARGE'> {
  return refuse('PAYLOAD_TOO_LARGE', `The body is above the limit of ${BODY_BYTES_MAX} bytes.`);
}

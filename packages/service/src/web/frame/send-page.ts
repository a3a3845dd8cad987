import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from '#http/respond.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { PAGE_HEADERS, policyOf } from '#web/frame/page-policy.ts';

/** Writes the response of a page. `stallMsMax`: how long the reader of a file may take nothing before the connection ends. */
export async function sendPage(
  { request, response }: Exchange,
  { status, page, file, location, cookies = [], needs = {}, retryAfterSeconds }: PageResponse,
  stallMsMax: number,
): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  response.statusCode = status;
  response.setHeader('content-security-policy', policyOf(needs));
  for (const [name, value] of Object.entries({ ...PAGE_HEADERS, ...file?.headers })) response.setHeader(name, value);
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  if (location !== undefined) response.setHeader('location', location);
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds));
  // A body that was not read to its end would be taken for the next request of the connection, as in `sendRefusal`.
  if (!request.complete) response.setHeader('connection', 'close');
  const text = file?.text ?? page?.text ?? '';
  if (typeof text === 'string') {
    response.setHeader('content-length', Buffer.byteLength(text));
    response.end(text);
    return;
  }
  response.setTimeout(stallMsMax, () => response.destroy());
  await sendPieces(response, request.method === 'HEAD' ? [] : text);
}

/**
 * Sends pieces as fast as the reader takes them: `pipeline` asks for the next one only when there is room. A fault cuts
 * the connection, so that nobody takes half a file for the whole. A reader who leaves is no fault.
 */
async function sendPieces(response: ServerResponse, pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
  await pipeline(pieces, response).catch((fault: unknown) => {
    const hasLeft = fault instanceof Error && 'code' in fault && fault.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!hasLeft) throw fault;
  });
}

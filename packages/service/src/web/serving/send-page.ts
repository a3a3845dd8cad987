import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { codingOf, type Coding, compress } from '#http/answers/compress.ts';
import type { Exchange } from '#http/answers/respond.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { PAGE_HEADERS, policyOf } from '#web/assets/page-policy.ts';

/** A shorter page gains nothing: it fits into one packet. */
const LENGTH_MIN = 1_400;

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
    const coding = page === undefined || file !== undefined ? undefined : codingFor(request, text);
    if (page !== undefined) response.setHeader('vary', 'accept-encoding, cookie, sec-fetch-site');
    if (coding !== undefined) response.setHeader('content-encoding', coding);
    const body = coding === undefined ? Buffer.from(text) : await compress(text, coding, 'each time');
    response.setHeader('content-length', body.length);
    response.end(body);
    return;
  }
  response.setTimeout(stallMsMax, () => response.destroy());
  await sendPieces(response, request.method === 'HEAD' ? [] : text);
}

/**
 * How a page may be compressed. The length of a compressed page tells a listener on the network whether a text that another site put
 * into its address also occurs elsewhere in it, such as a proof or a name (BREACH). So only a page is compressed that the
 * browser says was asked for by us or by the visitor, or that is for nobody in particular. Answers to forms are not: they alone
 * show secrets (decision 26).
 */
function codingFor({ method, headers }: IncomingMessage, text: string): Coding | undefined {
  if (method === 'POST' || text.length < LENGTH_MIN) return undefined;
  const isOurs = headers['sec-fetch-site'] === 'same-origin' || headers['sec-fetch-site'] === 'none';
  return isOurs || headers.cookie === undefined ? codingOf(headers['accept-encoding']) : undefined;
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

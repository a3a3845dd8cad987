/** Limit for the heads of one response, interim ones included, and again for its trailers. */
export const HEAD_BYTES_MAX = 16 * 1024;

/** The bytes are not one HTTP/1.1 response. The message is ours and holds none of those bytes (ER-03). */
export class ProtocolError extends Error {
  constructor(what: string) {
    super(`The response ${what}.`);
  }
}

interface Head {
  readonly status: number;
  /** Whether the response is HTTP/1.0: then the connection serves one request only, and chunks are not allowed. */
  readonly isHttp10: boolean;
  /** The header lines, each with its CRLF before it. */
  readonly lines: string;
  /** The offset behind the empty line. */
  readonly end: number;
}

const END = Buffer.from('\r\n\r\n');
const LF_ALONE = /(?<!\r)\n/;
// Strict on purpose. Two readers may disagree about a folded line, a space before the colon or a lone LF, and then about
// where the response ends: what follows would be charged to the next call.
const FIELDS = String.raw`(?:\r\n[!#$%&'*+.^_\x60|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*)*`;
const HEAD = new RegExp(String.raw`^HTTP/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?(${FIELDS})$`);
const TRAILERS = new RegExp(`^${FIELDS}$`);

/** The head that begins at `at`; undefined until its empty line has arrived. */
export function readHead(bytes: Buffer, at: number, bytesMax: number): Head | undefined {
  const end = endOfLines(bytes, at, bytesMax);
  if (end === undefined) return undefined;
  const match = HEAD.exec(bytes.toString('latin1', at, end - END.length));
  if (match === null) throw new ProtocolError('has a malformed head');
  return { status: Number(match[2]), isHttp10: match[1] === '0', lines: match[3] ?? '', end };
}

/** The offset behind the trailers, whose content is ignored; undefined until their empty line has arrived. */
export function readTrailers(bytes: Buffer, at: number): number | undefined {
  const end = endOfLines(bytes, at, HEAD_BYTES_MAX);
  if (end === undefined) return undefined;
  if (!TRAILERS.test(bytes.toString('latin1', at, end - END.length))) {
    throw new ProtocolError('has malformed trailers');
  }
  return end;
}

function endOfLines(bytes: Buffer, at: number, bytesMax: number): number | undefined {
  const end = bytes.indexOf(END, at);
  if ((end === -1 ? bytes.length : end + END.length) - at > bytesMax) throw new ProtocolError('has too many headers');
  if (end !== -1) return end + END.length;
  // Refused now: a head whose lines end in LF alone never ends in CRLF CRLF, and the call would wait for its timeout.
  if (LF_ALONE.test(bytes.toString('latin1', at))) throw new ProtocolError('has lines that do not end in CRLF');
  return undefined;
}

/** How the body is delimited, and whether the connection can be used again. */
export interface Framing {
  readonly body: 'sized' | 'chunked' | 'until-close';
  /** The size of a `sized` body. */
  readonly bytes: number;
  readonly isReusable: boolean;
  readonly keepAliveMs: number | undefined;
}

const FRAMING_HEADERS = /\r\n(content-length|transfer-encoding|connection|keep-alive):[\t ]*([^\r]*)/gi;
/** Responses with these statuses have no body, even if their headers announce one. */
const BODILESS = new Set([204, 304]);
const LENGTH = /^\d{1,15}[\t ]*$/;
const CHUNKED = /^chunked[\t ]*$/i;
const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const KEEP_ALIVE_SECONDS = /(?:^|[,;])[\t ]*timeout=(\d{1,6})[\t ]*(?:[,;]|$)/i;

/** Reads the framing headers. Throws `ProtocolError` if two readers could delimit the body in two ways. */
export function framingOf({ status, isHttp10, lines }: Head): Framing {
  let length: number | undefined;
  let isChunked = false;
  let isReusable = !isHttp10;
  let keepAliveMs: number | undefined;
  FRAMING_HEADERS.lastIndex = 0;
  // By `exec` and not by `matchAll`, which makes another expression and an iterator for each response.
  for (let match = FRAMING_HEADERS.exec(lines); match !== null; match = FRAMING_HEADERS.exec(lines)) {
    const name = match[1] ?? '';
    const value = match[2] ?? '';
    // The four names differ in length and first letter, which is cheaper to compare than the name in lower case.
    if (name.length === 'content-length'.length) {
      if (length !== undefined || !LENGTH.test(value)) throw new ProtocolError('has an invalid or a second length');
      length = Number(value);
    } else if (name.length === 'transfer-encoding'.length) {
      if (isChunked || isHttp10 || !CHUNKED.test(value)) throw new ProtocolError('has an unknown transfer encoding');
      isChunked = true;
    } else if (name[0] === 'c' || name[0] === 'C') {
      if (CLOSE.test(value)) isReusable = false;
    } else {
      const seconds = KEEP_ALIVE_SECONDS.exec(value)?.[1];
      if (seconds !== undefined) keepAliveMs = Number(seconds) * 1_000;
    }
  }
  if (isChunked && length !== undefined) throw new ProtocolError('has both a length and a transfer encoding');
  if (BODILESS.has(status)) {
    // Some servers send a body with them all the same. The next request would take it for its response.
    const isEmpty = !isChunked && (length ?? 0) === 0;
    return { body: 'sized', bytes: 0, isReusable: isReusable && isEmpty, keepAliveMs };
  }
  if (isChunked) return { body: 'chunked', bytes: 0, isReusable, keepAliveMs };
  if (length !== undefined) return { body: 'sized', bytes: length, isReusable, keepAliveMs };
  return { body: 'until-close', bytes: 0, isReusable: false, keepAliveMs: undefined };
}

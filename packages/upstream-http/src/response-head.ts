/** Of the head of an answer, with those that were passed over, and of its trailers. */
export const HEAD_BYTES_MAX = 16 * 1024;

/** What came is no answer of HTTP/1.1. Its message is ours: nothing of what came is in it (ER-03). */
export class AnswerFault extends Error {
  constructor(what: string) {
    super(`The provider's answer ${what}.`);
  }
}

interface Head {
  readonly status: number;
  /** Of HTTP/1.0: such a connection serves one request. */
  readonly isOld: boolean;
  /** The lines of the headers, each with its CRLF before it. */
  readonly lines: string;
  /** The place behind the empty line. */
  readonly end: number;
}

const END = Buffer.from('\r\n\r\n');
const LF_ALONE = /(?<!\r)\n/;
const FIELDS = String.raw`(?:\r\n[!#$%&'*+.^_\x60|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*)*`;
const HEAD = new RegExp(String.raw`^HTTP/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?(${FIELDS})$`);
const TRAILERS = new RegExp(`^${FIELDS}$`);

/** The head that begins at this place; undefined while its end is not there. No line goes on in the next one. */
export function readHead(bytes: Buffer, at: number, bytesMax: number): Head | undefined {
  const end = endOfLines(bytes, at, bytesMax);
  if (end === undefined) return undefined;
  const match = HEAD.exec(bytes.toString('latin1', at, end - END.length));
  if (match === null) throw new AnswerFault('does not begin like one');
  const [, minor, status, lines = ''] = match;
  return { status: Number(status), isOld: minor === '0', lines, end };
}

/** The place behind the trailers, which are dropped; undefined while their end is not there. */
export function readTrailers(bytes: Buffer, at: number): number | undefined {
  const end = endOfLines(bytes, at, HEAD_BYTES_MAX);
  if (end === undefined) return undefined;
  if (!TRAILERS.test(bytes.toString('latin1', at, end - END.length)))
    throw new AnswerFault('has trailers that are none');
  return end;
}

function endOfLines(bytes: Buffer, at: number, bytesMax: number): number | undefined {
  const end = bytes.indexOf(END, at);
  if ((end === -1 ? bytes.length : end + END.length) - at > bytesMax) throw new AnswerFault('has too many headers');
  if (end !== -1) return end + END.length;
  if (LF_ALONE.test(bytes.toString('latin1', at)))
    throw new AnswerFault('has lines that end in no way that is allowed');
  return undefined;
}

/** How long an answer is, and what becomes of its connection. */
export interface Framing {
  readonly body: 'sized' | 'chunked' | 'until-close';
  /** Of a sized body. */
  readonly bytes: number;
  readonly isKept: boolean;
  readonly keptMs: number | undefined;
}

const OF_INTEREST = /\r\n(content-length|transfer-encoding|connection|keep-alive):[\t ]*([^\r]*)/gi;
const BODILESS = new Set([204, 304]);
const LENGTH = /^\d{1,15}[\t ]*$/;
const CHUNKED = /^chunked[\t ]*$/i;
const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const KEPT_SECONDS = /(?:^|[,;])[\t ]*timeout=(\d{1,6})[\t ]*(?:[,;]|$)/i;

/** Throws `AnswerFault` where two readers could take the body for two different ones. */
export function framingOf({ status, isOld, lines }: Head): Framing {
  let length: number | undefined;
  let isChunked = false;
  let isKept = !isOld;
  let keptMs: number | undefined;
  for (const [, name = '', value = ''] of lines.matchAll(OF_INTEREST)) {
    if (name.length === 14) {
      if (length !== undefined || !LENGTH.test(value)) throw new AnswerFault('has a length that is none, or two');
      length = Number(value);
    } else if (name.length === 17) {
      if (isChunked || isOld || !CHUNKED.test(value)) throw new AnswerFault('has a transfer encoding that is unknown');
      isChunked = true;
    } else if (name[0] === 'c' || name[0] === 'C') {
      if (CLOSE.test(value)) isKept = false;
    } else {
      const seconds = KEPT_SECONDS.exec(value)?.[1];
      if (seconds !== undefined) keptMs = Number(seconds) * 1_000;
    }
  }
  if (isChunked && length !== undefined) throw new AnswerFault('has a length and a transfer encoding');
  if (BODILESS.has(status)) {
    // Its sender may have sent a body all the same, which would be taken for the next answer.
    const isEmpty = !isChunked && (length ?? 0) === 0;
    return { body: 'sized', bytes: 0, isKept: isKept && isEmpty, keptMs };
  }
  if (isChunked) return { body: 'chunked', bytes: 0, isKept, keptMs };
  if (length !== undefined) return { body: 'sized', bytes: length, isKept, keptMs };
  return { body: 'until-close', bytes: 0, isKept: false, keptMs: undefined };
}

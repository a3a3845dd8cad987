/** One complete answer, as it arrived over a connection. */
export interface RawAnswer {
  readonly status: number;
  /** The header values, by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

interface Answers {
  /** The complete answers in order, without interim answers (100). */
  readonly whole: readonly RawAnswer[];
  /** The bytes that form no complete answer. */
  readonly rest: Buffer;
}

const END_OF_HEAD = '\r\n\r\n';

/** Reads the answers from the bytes. `methods` are those of the requests, in order: an answer to HEAD has no body. */
export function readAnswers(bytes: Buffer, methods: readonly string[], isClosed: boolean): Answers {
  const whole: RawAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf(END_OF_HEAD);
    const head = end === -1 ? undefined : headOf(rest.toString('latin1', 0, end));
    if (head === undefined) return { whole, rest };
    const after = rest.subarray(end + END_OF_HEAD.length);
    if (head.status < 200) {
      rest = after;
      continue;
    }
    const read = readBody(head, after, methods[whole.length] === 'HEAD', isClosed);
    if (read === undefined) return { whole, rest };
    whole.push({ ...head, body: read.body });
    rest = read.rest;
  }
}

type Head = Omit<RawAnswer, 'body'>;

function headOf(text: string): Head | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1];
  if (status === undefined) return undefined;
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status: Number(status), headers };
}

interface Body {
  readonly body: Buffer;
  readonly rest: Buffer;
}

function readBody({ status, headers }: Head, bytes: Buffer, isHead: boolean, isClosed: boolean): Body | undefined {
  if (isHead || status === 204 || status === 304) return { body: Buffer.alloc(0), rest: bytes };
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(bytes);
  const declared = headers.get('content-length');
  if (declared === undefined) return isClosed ? { body: bytes, rest: Buffer.alloc(0) } : undefined;
  const length = Number(declared);
  return bytes.length < length ? undefined : { body: bytes.subarray(0, length), rest: bytes.subarray(length) };
}

function readChunks(bytes: Buffer): Body | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at);
    if (end === -1) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16);
    const next = end + 2 + size + 2;
    if (bytes.length < next) return undefined;
    if (size === 0) return { body: Buffer.concat(parts), rest: bytes.subarray(next) };
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = next;
  }
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ResponseParser } from './response-parser.ts';
import { ProtocolError } from './response-head.ts';
import { anyCharacter } from '../../../tests/support/any-character.ts';

interface Reading {
  readonly status: number;
  readonly body: string;
  /**
   * `whole` ended by its own length, and `by-end` by the end of the connection. `cut` is incomplete, and `fault` was
   * refused.
   */
  readonly verdict: 'whole' | 'by-end' | 'cut' | 'fault';
  readonly isReusable: boolean;
  readonly keepAliveMs: number | undefined;
}

/** What the parser makes of these pieces, and then of the end of the connection. */
function readingOf(...pieces: readonly Buffer[]): Reading {
  let status = 0;
  let heads = 0;
  let body = '';
  const parser = new ResponseParser({
    onHead: (code) => {
      status = code;
      heads += 1;
    },
    onData: (bytes) => void (body += bytes.toString('latin1')),
    onInterim: () => {},
  });
  const of = (verdict: Reading['verdict'], isReusable: boolean): Reading => {
    assert.ok(heads <= 1, 'one head');
    return { status, body, verdict, isReusable, keepAliveMs: isReusable ? parser.keepAliveMs : undefined };
  };
  try {
    for (const [index, piece] of pieces.entries()) {
      // Sockets read into memory that is used again: the parser may write to it, and must keep none of it.
      const memory = Buffer.from(piece);
      const isWhole = parser.feed(memory);
      memory.fill('!');
      if (isWhole) return of('whole', parser.isReusable && pieces.slice(index + 1).every(({ length }) => length === 0));
    }
  } catch (fault) {
    assert.ok(fault instanceof ProtocolError);
    return of('fault', false);
  }
  return of(parser.end() ? 'by-end' : 'cut', false);
}

function read(text: string): Reading {
  return readingOf(Buffer.from(text, 'latin1'));
}

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;

/** A response, and what the parser makes of it. */
type Row = readonly [what: string, text: string, body: string, verdict: Reading['verdict'], isReusable: boolean];

const RESPONSES: readonly Row[] = [
  ['a length', `${OK}content-length: 5\r\n\r\nhello`, 'hello', 'whole', true],
  ['a length of zero', `${OK}Content-Length:0\r\n\r\n`, '', 'whole', true],
  ['no reason phrase', 'HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx', 'x', 'whole', true],
  ['chunks', `${CHUNKED}5\r\nhello\r\nA;x="y z"\r\n, 23456789\r\n0\r\n\r\n`, 'hello, 23456789', 'whole', true],
  ['chunks and trailers', `${CHUNKED}1\r\nx\r\n0\r\nx-a: b\r\nx-c:\r\n\r\n`, 'x', 'whole', true],
  ['chunk sizes with leading zeros', `${CHUNKED}00000001 \t;\r\nx\r\n000\r\n\r\n`, 'x', 'whole', true],
  ['no length', `${OK}x-a: b\r\n\r\nhello`, 'hello', 'by-end', false],
  ['no headers', `${OK}\r\nhello`, 'hello', 'by-end', false],
  ['a body that breaks off', `${OK}content-length: 6\r\n\r\nhello`, 'hello', 'cut', false],
  ['a chunk that breaks off', `${CHUNKED}6\r\nhello`, 'hello', 'cut', false],
  ['no last chunk', `${CHUNKED}5\r\nhello\r\n`, 'hello', 'cut', false],
  ['half a head', `${OK}content-le`, '', 'cut', false],
  ['bytes behind its length', `${OK}content-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n`, 'ok', 'whole', false],
  ['bytes behind its last chunk', `${CHUNKED}2\r\nok\r\n0\r\n\r\nx`, 'ok', 'whole', false],
  ['`connection: close`', `${OK}Connection: Close\r\ncontent-length: 2\r\n\r\nok`, 'ok', 'whole', false],
  ['`close` in a list', `${OK}connection: a , close\r\ncontent-length: 2\r\n\r\nok`, 'ok', 'whole', false],
  ['`connection: keep-alive`', `${OK}connection: keep-alive\r\ncontent-length: 2\r\n\r\nok`, 'ok', 'whole', true],
  ['HTTP/1.0', `HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok`, 'ok', 'whole', false],
  ['status 204', 'HTTP/1.1 204 No Content\r\n\r\n', '', 'whole', true],
  ['status 204 and a length', 'HTTP/1.1 204 N\r\ncontent-length: 5\r\n\r\nhello', '', 'whole', false],
  ['status 304 and chunks', 'HTTP/1.1 304 N\r\ntransfer-encoding: chunked\r\n\r\n', '', 'whole', false],
  [
    'interim responses before it',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nlink: x\r\n\r\n${OK}content-length: 1\r\n\r\nx`,
    'x',
    'whole',
    true,
  ],
  [
    'every byte that a header may hold',
    `${OK}a!#$%&'*+-.^_\`|~9Z: \t~\x80\xff\r\ncontent-length: 1 \t\r\n\r\nx`,
    'x',
    'whole',
    true,
  ],
];

for (const [what, text, body, verdict, isReusable] of RESPONSES) {
  test(`CC-09 the body of a response with ${what} is read to its end`, () => {
    const reading = read(text);
    assert.deepEqual([reading.body, reading.verdict, reading.isReusable], [body, verdict, isReusable]);
  });
}

const MALFORMED: readonly (readonly [what: string, text: string])[] = [
  ['another protocol', 'SSH-2.0-x\r\n\r\n'],
  ['another version', 'HTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 OK\r\ncontent-length: 0\r\n\r\n'],
  ['a switch of protocols', 'HTTP/1.1 101 S\r\nupgrade: x\r\n\r\n'],
  ['an empty line before it', `\r\n${OK}content-length: 0\r\n\r\n`],
  ['lines that end in LF', `HTTP/1.1 200 OK\ncontent-length: 0\n\n`],
  ['one line that ends in LF', `${OK}x-a: b\ncontent-length: 0\r\n\r\n`],
  ['a CR alone', `${OK}x-a: b\rcontent-length: 0\r\n\r\n`],
  ['a zero byte', `${OK}x-a: \0\r\ncontent-length: 0\r\n\r\n`],
  ['a folded header', `${OK}x-a: b\r\n c\r\ncontent-length: 0\r\n\r\n`],
  ['a space before the colon', `${OK}content-length : 0\r\n\r\n`],
  ['a header without a name', `${OK}: 0\r\n\r\n`],
  ['a header without a colon', `${OK}content-length\r\n\r\n`],
  ['a header name that is not ASCII', `${OK}cont\xe9nt: 0\r\n\r\n`],
  ['two lengths', `${OK}content-length: 2\r\ncontent-length: 3\r\n\r\nok`],
  ['the same length twice', `${OK}content-length: 2\r\nContent-Length: 2\r\n\r\nok`],
  ['a list of lengths', `${OK}content-length: 2, 2\r\n\r\nok`],
  ['a length with a sign', `${OK}content-length: +2\r\n\r\nok`],
  ['a length below zero', `${OK}content-length: -2\r\n\r\nok`],
  ['a length in another base', `${OK}content-length: 0x2\r\n\r\nok`],
  ['an empty length', `${OK}content-length:\r\n\r\nok`],
  ['a length of 16 digits', `${OK}content-length: 9999999999999999\r\n\r\nok`],
  ['a length and chunks', `${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunks and a length', `${OK}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n0\r\n\r\n`],
  ['an unknown encoding', `${OK}transfer-encoding: gzip\r\n\r\nx`],
  ['two encodings', `${OK}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['`chunked` twice', `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['an encoding that only resembles `chunked`', `${OK}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk without a size', `${CHUNKED}\r\n\r\n`],
  ['a chunk whose size is not hexadecimal', `${CHUNKED}0x1\r\nx\r\n0\r\n\r\n`],
  ['a chunk whose size has a sign', `${CHUNKED}-1\r\nx\r\n0\r\n\r\n`],
  ['a chunk whose size ends in LF', `${CHUNKED}1\nx\r\n0\r\n\r\n`],
  ['a chunk whose size ends in a CR alone', `${CHUNKED}1\rxx\r\n0\r\n\r\n`],
  ['a chunk that is longer than its size', `${CHUNKED}1\r\nxx\r\n0\r\n\r\n`],
  ['a chunk that ends in a CR alone', `${CHUNKED}1\r\nx\rx0\r\n\r\n`],
  ['a chunk that ends in LF', `${CHUNKED}1\r\nx\n0\r\n\r\n`],
  ['too large a chunk', `${CHUNKED}80000000\r\nx`],
  ['a chunk whose size would overflow', `${CHUNKED}10000000000000001\r\nx\r\n0\r\n\r\n`],
  ['a chunk extension with control characters', `${CHUNKED}1;\n\r\nx\r\n0\r\n\r\n`],
  ['a chunk extension of a mebibyte', `${CHUNKED}1;${'x'.repeat(1_048_576)}\r\nx\r\n0\r\n\r\n`],
  ['a chunk extension that is a little too long', `${CHUNKED}1;${'x'.repeat(1_023)}\r\nx\r\n0\r\n\r\n`],
  ['malformed trailers', `${CHUNKED}0\r\nx y: z\r\n\r\n`],
  ['trailers that end in LF', `${CHUNKED}0\r\nx-a: b\n\n`],
  ['trailers of 16 KiB', `${CHUNKED}0\r\nx-a: ${'b'.repeat(16_384)}\r\n\r\n`],
  ['a head of more than 16 KiB', `${OK}${'x-a: b\r\n'.repeat(2_100)}content-length: 0\r\n\r\n`],
  ['a head that has not ended after 16 KiB', `${OK}x-a: ${'b'.repeat(16_384)}`],
  [
    'interim responses of more than 16 KiB',
    `${`HTTP/1.1 103 E\r\nx-a: b\r\n\r\n`.repeat(700)}${OK}content-length: 0\r\n\r\n`,
  ],
];

for (const [what, text] of MALFORMED) {
  test(`CC-09 a response with ${what} is refused`, () => {
    const { verdict, isReusable } = read(text);
    assert.deepEqual([verdict, isReusable], ['fault', false]);
  });
}

for (const [value, ms] of [
  ['timeout=5, max=100', 5_000],
  ['max=100,Timeout=60', 60_000],
  ['xtimeout=5', undefined],
  ['timeout=-5', undefined],
] as const) {
  test(`CC-09 \`keep-alive: ${value}\` is read as ${ms === undefined ? 'nothing' : `${ms} ms`}`, () => {
    assert.equal(read(`${OK}keep-alive: ${value}\r\ncontent-length: 0\r\n\r\n`).keepAliveMs, ms);
  });
}

test('CC-09 no error message holds upstream bytes', () => {
  for (const [what, text] of MALFORMED) {
    const parser = new ResponseParser({ onHead: () => {}, onData: () => {}, onInterim: () => {} });
    const bytes = Buffer.from(text.replaceAll(/[b-wyz]{2,}/g, 'CANARY'), 'latin1');
    try {
      parser.feed(bytes);
    } catch (fault) {
      assert.ok(fault instanceof Error && !fault.message.includes('CANARY'), what);
    }
  }
});

/**
 * Asserts that both readings are the same. Before a malformed response is refused, more or less of it may have been
 * passed on, depending on the cut.
 */
function assertSame(cut: Reading, whole: Reading, what: string): void {
  if (whole.verdict === 'fault') assert.equal(cut.verdict, 'fault', what);
  else assert.deepEqual(cut, whole, what);
}

function cutAt(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
}

test('CC-09 a response reads the same however split', () => {
  for (const text of [...RESPONSES, ...MALFORMED]
    .map(([, response]) => response)
    .filter(({ length }) => length < 400)) {
    const bytes = Buffer.from(text, 'latin1');
    const whole = readingOf(bytes);
    assertSame(readingOf(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))), whole, text);
    for (let at = 1; at < bytes.length; at += 1) {
      assertSame(readingOf(bytes.subarray(0, at), bytes.subarray(at)), whole, `${text} at ${at}`);
    }
  }
});

test('CC-09 any bytes are read the same however they are cut', () => {
  const pieces = RESPONSES.concat(MALFORMED as unknown as readonly Row[]).flatMap(([, text]) =>
    text.split(/(?<=[\r\n: ;])/),
  );
  const piece = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...pieces.filter(({ length }) => length < 200)) },
    { weight: 4, arbitrary: fc.constantFrom(OK, CHUNKED, '\r\n', '\r\n\r\n', '5\r\nhello\r\n', '0\r\n\r\n') },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 3 }) },
  );
  const start = fc.constantFrom(OK, OK, CHUNKED, CHUNKED, `${OK}content-length: 12\r\n\r\n`, '');
  fc.assert(
    fc.property(start, fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 8 }), (head, tail, cuts) => {
      const bytes = Buffer.from(head + tail.join(''), 'latin1');
      assertSame(readingOf(...cutAt(bytes, cuts)), readingOf(bytes), bytes.toString('latin1'));
    }),
    { numRuns: 10_000 },
  );
});

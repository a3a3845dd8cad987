import type { Random } from '../histories/random.ts';

/** The body in chunks of random sizes, some with extensions, and sometimes a trailer. */
export function chunked(random: Random, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const size = Math.min(body.length - at, random.pick([1, 7, 100, 1_000, 65_536, 1_048_576]));
    const extension = random.pick(['', '', '', ';a=b', ';a', ';a="b c"']);
    const length = random.chance(0.1) ? size.toString(16).toUpperCase().padStart(6, '0') : size.toString(16);
    parts.push(Buffer.from(`${length}${extension}\r\n`), body.subarray(at, at + size), Buffer.from('\r\n'));
    at += size;
    if (parts.length > 600) {
      parts.push(Buffer.from(`${(body.length - at).toString(16)}\r\n`), body.subarray(at), Buffer.from('\r\n'));
      break;
    }
  }
  parts.push(Buffer.from(`0\r\n${random.pick(['', '', 'x-trailer: a\r\n', 'x-service-user: other\r\n'])}\r\n`));
  return Buffer.concat(parts);
}

/** Framings of a body that are wrong, ambiguous or outdated. */
export function brokenFraming(random: Random, body: Buffer): { readonly lines: string[]; readonly body: Buffer } {
  const { length } = body;
  const declared = (value: string | number): { lines: string[]; body: Buffer } => {
    return { lines: [`content-length: ${value}`], body };
  };
  const chunks = chunked(random, body);
  switch (random.whole(0, 9)) {
    case 0:
      return declared(length + random.pick([1, 10, 1_000_000]));
    case 1:
      return declared(Math.max(0, length - random.pick([1, 10, length])));
    case 2:
      return declared(
        random.pick(['-1', '+5', '0x10', 'one', '', '1e3', '99999999999999999999', '5, 5', ' 5 5', '1.0']),
      );
    case 3:
      return { lines: [`content-length: ${length}`, `content-length: ${length + random.whole(0, 1)}`], body };
    case 4:
      return { lines: [`content-length: ${length}`, 'transfer-encoding: chunked'], body: chunks };
    case 5: {
      const encoding = random.pick([
        'Chunked',
        'chunked, chunked',
        'gzip, chunked',
        'chunked, gzip',
        'x',
        '\tchunked',
        'chunked;a',
      ]);
      return { lines: [`transfer-encoding: ${encoding}`], body: chunks };
    }
    case 6:
      return {
        lines: ['transfer-encoding: chunked'],
        body: Buffer.from(
          random.pick([
            'zz\r\n',
            '-1\r\n',
            'ffffffffffffffff1\r\n',
            '5\nhello',
            '3\r\nabcd\r\n',
            '\r\n',
            '0\r\n',
            '0;\r\n\r\n',
            '1\r\na',
          ]),
        ),
      };
    case 7:
      return { lines: ['transfer-encoding: chunked'], body: chunks.subarray(0, random.whole(0, chunks.length)) };
    case 8:
      return { lines: ['transfer-encoding: chunked', 'transfer-encoding: identity'], body: chunks };
    default:
      return { lines: [], body };
  }
}

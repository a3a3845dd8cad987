import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** How an answer may be compressed. */
export type Coding = 'br' | 'gzip';

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
const CODINGS: readonly Coding[] = ['br', 'gzip'];
const QUALITY = { once: 9, 'each time': 4 } as const;

/** The best coding that an `accept-encoding` header names. Undefined if the client takes neither, so the text goes as it is. */
export function codingOf(accepted: string | string[] | undefined): Coding | undefined {
  const parts = String(accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((word) => word.trim()));
  return CODINGS.find((coding) =>
    parts.some(([name, ...rest]) => name === coding && !rest.some((one) => /^q=0(?:\.0*)?$/.test(one))),
  );
}

/** Compresses a text, outside the event loop. `often`: whether this text is compressed once and kept, which may take longer. */
export async function compress(text: string, coding: Coding, often: keyof typeof QUALITY): Promise<Buffer> {
  if (coding === 'gzip') return zip(text);
  const bytes = Buffer.from(text);
  return brotli(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY[often],
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    },
  });
}

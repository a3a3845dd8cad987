import type { Reply } from '#gateway/call/wire.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

export type Encoding = 'float' | 'base64';

const BYTES_OF_FLOAT = 4;

/** Writes vectors in the encoding that was asked for, because some providers know one alone and clients take what comes for theirs. */
export function createReply(encoding: Encoding): Reply {
  return {
    plain: ({ model }, { native = {} }, { usage }) => {
      const { prompt_tokens: tokens } = usage;
      const data = Array.isArray(native['data']) ? native['data'].filter(isJsonObject) : [];
      return {
        object: 'list',
        data: data.map((one) => inEncoding(one, encoding)),
        model: model.id,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      };
    },
    stream: neverStreamed,
    endFrames: neverStreamed,
  };
}

function neverStreamed(): never {
  throw new Error('Embeddings are not streamed.');
}

function inEncoding(one: JsonObject, encoding: Encoding): JsonObject {
  const embedding = encoded(one, encoding);
  return embedding === one['embedding'] ? one : { ...one, embedding };
}

function encoded({ embedding }: JsonObject, encoding: Encoding): unknown {
  if (encoding === 'base64') return Array.isArray(embedding) ? toBase64(embedding) : embedding;
  return typeof embedding === 'string' ? fromBase64(embedding) : embedding;
}

/** The numbers as the format packs them: floats of four bytes, the lowest byte first. */
function toBase64(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * BYTES_OF_FLOAT);
  for (let place = 0; place < numbers.length; place += 1)
    bytes.writeFloatLE(numbers[place] ?? 0, place * BYTES_OF_FLOAT);
  return bytes.toString('base64');
}

function fromBase64(text: string): readonly number[] {
  const bytes = Buffer.from(text, 'base64');
  const count = Math.floor(bytes.length / BYTES_OF_FLOAT);
  return Array.from({ length: count }, (_, place) => bytes.readFloatLE(place * BYTES_OF_FLOAT));
}

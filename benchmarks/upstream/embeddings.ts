// A vector, as a provider of embeddings answers, in the encoding that libraries ask for.
import { USAGE, VECTOR_NUMBERS } from '../support/catalogue.ts';

const vector = Buffer.from(Float32Array.from({ length: VECTOR_NUMBERS }, (_, index) => Math.sin(index + 1)).buffer);
const encoded = vector.toString('base64');
/** The beginning of the vector, by which an answer is known to be this upstream's. */
export const EXPECTED_VECTOR = encoded.slice(0, 40);

const whole = Buffer.from(
  JSON.stringify({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: encoded }],
    model: 'bench-upstream',
    usage: { prompt_tokens: USAGE.prompt, total_tokens: USAGE.prompt },
  }),
);

/** An answer of about 8 kB. */
export const EMBEDDING = Buffer.concat([
  Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${whole.length}\r\n\r\n`),
  whole,
]);

import { malformed } from './api-error.ts';
import { parseJson } from './body.ts';
import { Fields } from './fields.ts';
import { countTokens } from './tokens.ts';

/** The one model of embeddings. */
export const EMBEDDER = {
  model: 'sim-embed',
  about:
    'Makes vectors of length 1 for `POST /v1/embeddings`: texts with more words in common are nearer to each other.',
} as const;

const DIMENSIONS_MAX = 1_536;
const INPUTS_MAX = 2_048;
const TOKEN_MAX = 2 ** 31 - 1;

/** A text, or a text as the numbers of its tokens. */
type Input = string | readonly number[];

/** A request for vectors, reduced to what the simulator honours. */
interface EmbeddingsRequest {
  readonly model: string;
  readonly inputs: readonly Input[];
  readonly dimensions: number;
  readonly isPacked: boolean;
}

/** Parses the text of a body. Throws an `ApiError` with status 400 that names the first field at fault. */
export function parseEmbeddingsRequest(body: string): EmbeddingsRequest {
  const request = new Fields(parseJson(body), '');
  const encoding = request.string('encoding_format') ?? 'float';
  if (encoding !== 'float' && encoding !== 'base64')
    throw malformed('encoding_format', '`encoding_format` must be `float` or `base64`.');
  return {
    model: request.text('model'),
    inputs: parseInputs(request),
    dimensions: request.integer('dimensions', { min: 1, max: DIMENSIONS_MAX }) ?? DIMENSIONS_MAX,
    isPacked: encoding === 'base64',
  };
}

function parseInputs(request: Fields): readonly Input[] {
  const input = request.raw('input');
  if (isInput(input)) return [input];
  const list = request.list('input', { min: 1, max: INPUTS_MAX }) ?? [];
  if (list.length > 0 && list.every(isInput)) return list;
  throw malformed('input', '`input` must be a text, the numbers of its tokens, or a list of either, and not empty.');
}

function isInput(value: unknown): value is Input {
  if (typeof value === 'string') return value !== '';
  return Array.isArray(value) && value.length > 0 && value.every(isToken);
}

function isToken(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= TOKEN_MAX;
}

/** The body of an answer. The same request always has the same vectors and the same usage. */
export function embeddingsBody({ model, inputs, dimensions, isPacked }: EmbeddingsRequest): object {
  const data = inputs.map((input, index) => {
    const vector = vectorOf(partsOf(input), dimensions);
    return { object: 'embedding', index, embedding: isPacked ? packed(vector) : vector };
  });
  const tokens = inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

function tokensOf(input: Input): number {
  return typeof input === 'string' ? countTokens(input) : input.length;
}

function partsOf(input: Input): readonly string[] {
  if (typeof input !== 'string') return input.map(String);
  return input.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [input];
}

/** Each word adds to one number of the vector. None takes away, so that no text has a vector of nothing. */
function vectorOf(parts: readonly string[], dimensions: number): readonly number[] {
  const counts = Array.from({ length: dimensions }, () => 0);
  for (const part of parts) {
    const place = hashOf(part) % dimensions;
    counts[place] = (counts[place] ?? 0) + 1;
  }
  const length = Math.sqrt(counts.reduce((sum, count) => sum + count * count, 0));
  return counts.map((count) => count / length);
}

/** FNV-1a with 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** The numbers as the format packs them: floats of four bytes, the lowest byte first. */
function packed(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, place * Float32Array.BYTES_PER_ELEMENT);
  return bytes.toString('base64');
}

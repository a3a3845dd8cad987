import OpenAI from 'openai';
import { chargeIn, type Heard, type Target } from './speaker.ts';

const TEXT = 'The quick brown fox jumps.';
const OTHER = 'A slow green frog sits.';

/** What is asked for. Without an encoding, the client asks for base64 and gives numbers. */
interface Inputs {
  readonly input: OpenAI.EmbeddingCreateParams['input'];
  readonly encoding?: 'float';
}

export const INPUTS: Readonly<Record<string, Inputs>> = {
  'one text': { input: TEXT },
  'one text, as numbers': { input: TEXT, encoding: 'float' },
  'several texts': { input: [TEXT, OTHER], encoding: 'float' },
  tokens: { input: [11, 12, 13] },
  'several lists of tokens': { input: [[11, 12, 13], [14]], encoding: 'float' },
};

/** A text that the service takes, and no server here: llama.cpp takes 512 tokens of a text, and each letter is one. */
export const TOO_LONG: Inputs = { input: 'word '.repeat(500) };

/** Asks for vectors. Throws if they are not as many as inputs, or no numbers. */
export async function embed(target: Target, { input, encoding }: Inputs): Promise<Heard> {
  const { url, app, user } = target;
  const headers = { 'x-service-user': user };
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: app.liveKey, defaultHeaders: headers, maxRetries: 0 });
  const body = { model: 'vectors', input, ...(encoding === undefined ? {} : { encoding_format: encoding }) };
  const { data, response } = await client.embeddings.create(body).withResponse();
  const vectors = data.data.map(({ embedding }) => embedding);
  const isList = Array.isArray(input) && typeof input[0] !== 'number';
  if (vectors.length !== (isList ? input.length : 1)) throw new Error(`There are ${vectors.length} vectors.`);
  const [first = []] = vectors;
  const isRight = vectors.every((one) => one.length === first.length && one.every(Number.isFinite));
  if (!isRight || first.length === 0) throw new Error('They are no vectors.');
  const { prompt_tokens: prompt } = data.usage;
  return { charged: chargeIn(response), usage: { prompt, cached: 0, completion: 0 }, isFinished: true };
}

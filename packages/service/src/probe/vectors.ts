import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { callOf, type Manner, NotExpressible, reported } from '#probe/exchange.ts';
import { failed, type Finding } from '#probe/findings.ts';
import type { TokenCounts } from '#providers/port/completion.ts';
import { findUnsupported } from '#providers/capabilities/capabilities.ts';
import { UpstreamError } from '#providers/port/provider.ts';

/** What an upstream has shown that was asked for vectors. */
export interface ProbedVectors {
  readonly findings: readonly Finding[];
  /** How many numbers a vector has. */
  readonly numbers: number;
}

/** The calls of the probe of a model of embeddings. */
export const VECTOR_CALLS = 3;

const TEXT = 'Say hello.';
/** All models that let a caller choose among a few sizes have this one. */
const SIZE = 256;
const BYTES_OF_NUMBER = 4;

interface Vectors {
  readonly sizes: readonly number[];
  readonly usage: TokenCounts | undefined;
}

/**
 * Asks for vectors. Returns why there are none if the first call fails. `stopAt` throws for a failure that concerns no single question.
 */
export async function probeVectors(
  manner: Manner,
  stopAt: (outcome: UpstreamError) => unknown,
): Promise<ProbedVectors | UpstreamError> {
  const one = await ask(manner, { input: TEXT }, stopAt);
  if (one instanceof UpstreamError) return one;
  const [numbers = 0] = one.sizes;
  const several = await ask(manner, { input: [TEXT, TEXT] }, stopAt);
  const size = numbers > SIZE ? SIZE : Math.max(1, Math.floor(numbers / 2));
  const short = await ask(manner, { input: TEXT, dimensions: size }, stopAt);
  return {
    findings: [
      { what: 'embeddings', is: 'yes', words: `vectors of ${numbers} numbers` },
      usageFinding(one.usage),
      severalFinding(several),
      sizeFinding(short, size),
    ],
    numbers,
  };
}

function usageFinding(usage: TokenCounts | undefined): Finding {
  const what = 'usage of embeddings';
  if (usage?.prompt === undefined) return { what, is: 'no', words: 'Purser would count the tokens itself' };
  return { what, is: 'yes', words: `${usage.prompt} tokens for a text` };
}

function severalFinding(vectors: Vectors | UpstreamError): Finding {
  const what = 'several texts in a call';
  return vectors instanceof UpstreamError ? failed(what, vectors) : { what, is: 'yes', words: 'a vector for each' };
}

function sizeFinding(vectors: Vectors | UpstreamError, size: number): Finding {
  const what = 'shorter vectors by `dimensions`';
  if (vectors instanceof UpstreamError) return failed(what, vectors);
  const [numbers] = vectors.sizes;
  return numbers === size
    ? { what, is: 'yes', words: `${size} numbers` }
    : { what, is: 'no', words: `it is ignored: ${numbers} numbers for ${size}` };
}

async function ask(
  manner: Manner,
  native: { readonly input: string | readonly string[]; readonly dimensions?: number },
  stopAt: (outcome: UpstreamError) => unknown,
): Promise<Vectors | UpstreamError> {
  const { definition: provider, providerModel } = manner;
  const unsupported = findUnsupported({ provider, providerModel }, native, 'embeddings');
  if (unsupported !== undefined) return new NotExpressible(unsupported.path, unsupported.advice);
  const request: JsonObject = { messages: [{ role: 'user', content: native.input }] };
  try {
    const call = callOf(manner, { request, outputTokens: 1 });
    const asked = { api: 'embeddings', text: JSON.stringify(native) } as const;
    const { native: answer = {}, usage, large } = await manner.provider.complete({ ...call, native: asked });
    large?.leave();
    const data: readonly unknown[] = Array.isArray(answer['data']) ? answer['data'] : [];
    return { sizes: data.map(sizeOf), usage: reported(usage) };
  } catch (fault) {
    if (!(fault instanceof UpstreamError)) throw fault;
    stopAt(fault);
    return fault;
  }
}

function sizeOf(one: unknown): number {
  const vector = isJsonObject(one) ? one['embedding'] : undefined;
  if (typeof vector === 'string') return Math.floor(Buffer.byteLength(vector, 'base64') / BYTES_OF_NUMBER);
  return Array.isArray(vector) ? vector.length : 0;
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UpstreamScript } from '../../../support/scripted-upstream.ts';

/** A vendor as a test sees it: a server that speaks its documented wire, and shares no code with the adapter. */
export interface Vendor {
  readonly kind: string;
  /** The provider in the catalogue, for a server at this origin. */
  readonly providerAt: (origin: string) => Readonly<Record<string, unknown>>;
  /** The settings of the service that the provider needs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Provider models by what they are good for. `plain` does everything that the scenarios ask for. */
  readonly models: Readonly<Record<string, string>>;
  /** Errors of the vendor, by the word behind `fail` in the prompt, with the `error.type` that a caller reads. */
  readonly failures: readonly (readonly [word: string, type: string])[];
  /** Those that may come in the middle of a stream. */
  readonly lateFailures: readonly (readonly [word: string, type: string])[];
  /** Parameters of a request, each with what the vendor's body must hold of it. */
  readonly sent?: readonly (readonly [
    fields: Readonly<Record<string, unknown>>,
    body: Readonly<Record<string, unknown>>,
  ])[];
  /** Requests that the kind refuses by name, each with the path. */
  readonly refused: readonly (readonly [fields: Readonly<Record<string, unknown>>, param: string])[];
  readonly answer: (request: VendorRequest) => VendorAnswer;
  /** The interfaces that its models have, if not chat completions. */
  readonly apis?: readonly string[];
  /** Its streams bring the arguments of a tool in one piece. */
  readonly hasWholeArguments?: true;
}

export interface VendorRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly rawBody: Buffer;
  readonly body: unknown;
}

/** What the server sends, and what it bills for it. */
export interface VendorAnswer {
  readonly script: UpstreamScript;
  /** What the answer costs. It is undefined if the vendor bills nothing. */
  readonly billed?: Billed;
}

/** Tokens as vendors bill them: each kind apart from the others. */
export interface Billed {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWriteLong: number;
  readonly output: number;
}

/** The prices of every model of the stage, in micros for a million tokens. */
export const PRICES = {
  inputMicrosPerMillion: 3_000_000,
  cachedInputMicrosPerMillion: 300_000,
  outputMicrosPerMillion: 15_000_000,
};
export const CACHE_WRITE_PRICES = { cacheWriteMicrosPerMillion: 3_750_000, cacheWriteLongMicrosPerMillion: 6_000_000 };

/** What a call costs by the formula, worked out apart from the service. */
export function chargeOf({ input, cacheRead, cacheWrite, cacheWriteLong, output }: Billed): number {
  const hundredths = input * 300 + cacheRead * 30 + cacheWrite * 375 + cacheWriteLong * 600 + output * 1_500;
  return Math.ceil(hundredths / 100);
}

/** The tool that every scenario offers. */
export const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};

/** A second tool, and a choice that leaves it out. */
export const OTHER = {
  type: 'function' as const,
  function: { name: 'other', parameters: WEATHER.function.parameters },
};
export const ALLOWED = {
  type: 'allowed_tools',
  allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'weather' } }] },
};

/** The schema that every scenario asks for. */
export const ANSWER_SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};

/** The answer to it. */
export const SCHEMA_ANSWER = '{"city":"Bern","degrees":7}';

/** A PNG of one pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The sentence in the vendor's error: it must not be seen anywhere. */
export const CANARY = 'CANARY of the vendor';

/** A text as a stream brings it. No character is cut. */
export function inPieces(whole: unknown): readonly string[] {
  return String(whole).match(/.{1,9}/gsu) ?? [];
}

/** The reason to finish that a prompt asks for by `finish` and a word, in the place of the usual one. */
export function askedReason(prompt: unknown, usual: string): string {
  return (typeof prompt === 'string' ? /^finish (\w+)$/.exec(prompt)?.[1] : undefined) ?? usual;
}

/** A conversation of one message and these fields besides. */
export function saying(content: unknown, fields: Readonly<Record<string, unknown>> = {}) {
  return { messages: [{ role: 'user', content, ...fields }] };
}

/** Requests that no kind with a format of its own takes. */
export const REFUSED_BY_ALL: Vendor['refused'] = [
  [{ response_format: { type: 'text', foo: 1 } }, 'response_format.foo'],
  [{ n: 2 }, 'n'],
  [{ logprobs: true }, 'logprobs'],
  [{ logit_bias: { 7: 1 } }, 'logit_bias'],
  [
    saying([{ type: 'image_url', image_url: { url: 'https://example.test/a.png' } }]),
    'messages[0].content[0].image_url.url',
  ],
  [
    saying([{ type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}`, detail: 'low' } }]),
    'messages[0].content[0].image_url.detail',
  ],
  [saying('Hello', { name: 'anna' }), 'messages[0].name'],
  [saying('Hello', { weight: 1 }), 'messages[0].weight'],
  [{ tools: [{ ...WEATHER, custom: 1 }] }, 'tools[0].custom'],
];

/** Writes files for the service into a directory, and returns their paths. */
export function writerIn(directory: string): (name: string, text: string) => string {
  return (name, text) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
}

import type { UpstreamScript } from './scripted-upstream.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Tokens of a call. */
export interface Used {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
}

/** What a caller learns of a call, in the same words on every wire. */
export interface Said {
  readonly text: string;
  readonly reason: string | undefined;
  readonly usage: Used | undefined;
  readonly charged: number | undefined;
  /** The code of a failure after the first byte. */
  readonly code: string | undefined;
}

/** A wire, as its callers know it. What one without conversations cannot do, its row does not have. */
export interface CalledWire {
  readonly name: 'chat completions' | 'Responses' | 'Messages' | 'embeddings';
  readonly path: string;
  /** The field that holds the prompt. */
  readonly promptField: string;
  /** One short question to the open model. */
  readonly question: Fields;
  /** That model by its own name. */
  readonly modelId: string;
  /** A field that makes it another question. */
  readonly changed: Fields;
  /** A question that asks this. */
  readonly promptOf: (prompt: string) => Fields;
  /** What its provider answers, plain. */
  readonly saying: (content: string, usage?: UsageOfProvider) => UpstreamScript;
  /** What is paid of such a usage. */
  readonly paidOf: (usage: Used) => Used;
  readonly plain: (body: Fields) => Omit<Said, 'charged' | 'code'>;
}

export interface UsageOfProvider {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

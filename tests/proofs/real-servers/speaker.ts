import type { TestApp } from '../../support/service.ts';

/** Where calls go, and who pays for them. */
export interface Target {
  readonly url: string;
  readonly app: TestApp;
  readonly user: string;
  readonly model: string;
}

/** What a call asks for beside its prompt. */
export interface Ask {
  readonly limit: number;
  /** The limit goes under its older name, on the wire that has one. */
  readonly isOlderName?: boolean;
  readonly hasTool?: boolean;
  readonly hasSchema?: boolean;
}

/** What a caller learned. */
export interface Heard {
  readonly charged: number;
  readonly usage: { readonly prompt: number; readonly cached: number; readonly completion: number } | undefined;
  /** The answer says why it ended. */
  readonly isFinished: boolean;
}

/** A wire as its stock client speaks it. */
export interface Speaker {
  readonly name: string;
  readonly plain: (target: Target, ask: Ask) => Promise<Heard>;
  readonly streamed: (target: Target, ask: Ask) => Promise<Heard>;
  /** Leaves a stream after its first event. What it costs is in the books only. */
  readonly leave: (target: Target) => Promise<void>;
}

export const PROMPT = 'Say something about the quick brown fox.';
export const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
export const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
/** What a caller asks for who leaves. */
export const LONG = { limit: 200 };

/** What the service says that it has charged, in the head of a plain answer. */
export function chargeIn({ headers }: Response): number {
  return Number(headers.get('x-service-charge-micros'));
}

// A server of the Gemini wire, for the Gemini API and for Vertex. It is strict where Google is.
import { type RecordedRequest, startScriptedUpstream } from '../scripted-upstream.ts';
import { createGeminiWire, type GeminiOptions } from './answers.ts';
import { FAILURES, type GeminiAnswer, type GeminiFailure, type Json } from './wire.ts';

export interface GeminiServer {
  readonly origin: string;
  /** Valid and refused requests, in the order of their arrival. */
  readonly requests: readonly RecordedRequest[];
  /** What it answers from now on. */
  readonly script: (next: GeminiAnswer | GeminiFailure) => void;
  readonly bodyOf: (index: number) => Json;
  readonly close: () => Promise<void>;
}

/** Listens on a free port of 127.0.0.1 until `close`. */
export async function startGeminiServer(options: GeminiOptions): Promise<GeminiServer> {
  const wire = createGeminiWire(options);
  const { baseUrl, requests, script, close } = await startScriptedUpstream();
  let next: GeminiAnswer | GeminiFailure = { error: FAILURES.internal };
  script((request) => wire.respond(request, () => next));
  return {
    origin: new URL(baseUrl).origin,
    requests,
    script: (said) => void (next = said),
    bodyOf: (index) => (requests.at(index)?.body ?? {}) as Json,
    close,
  };
}

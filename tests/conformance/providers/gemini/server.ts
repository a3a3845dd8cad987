// A server of the Gemini wire, for the Gemini API and for Vertex. It is strict where Google is.
import { startScriptedUpstream } from '../../../support/scripted-upstream.ts';
import { createGeminiWire, type GeminiOptions } from './answers.ts';
import { FAILURES, type GeminiAnswer, type GeminiFailure, type Json } from './wire.ts';

export type GeminiServer = Awaited<ReturnType<typeof startGeminiServer>>;

/** Listens on a free port of 127.0.0.1 until `close`. */
export async function startGeminiServer(options: GeminiOptions) {
  const wire = createGeminiWire(options);
  const { baseUrl, requests, script, close } = await startScriptedUpstream();
  let next: GeminiAnswer | GeminiFailure = { error: FAILURES.internal };
  script((request) => wire.respond(request, () => next));
  return {
    origin: new URL(baseUrl).origin,
    /** The valid and the refused requests, in the order of their arrival. */
    requests,
    /** What it answers from now on. */
    script: (said: GeminiAnswer | GeminiFailure) => void (next = said),
    bodyOf: (index: number) => (requests.at(index)?.body ?? {}) as Json,
    close,
  };
}

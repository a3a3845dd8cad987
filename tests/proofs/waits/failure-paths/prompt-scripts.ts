import type { RecordedRequest, ScriptedUpstream, UpstreamScript } from '../../../support/scripted-upstream.ts';

/** Makes simultaneous calls independent: each is answered by the script of its own prompt. */
export type PromptScripts = ReturnType<typeof scriptByPrompt>;

interface Line {
  readonly script: UpstreamScript;
  readonly arrive: (request: RecordedRequest) => void;
  arrivals: number;
}

export function scriptByPrompt(upstream: ScriptedUpstream) {
  const lines = new Map<string, Line>();
  function lineOf(prompt: string): Line {
    const line = lines.get(prompt);
    if (line === undefined) throw new Error(`Nobody has set a script for the prompt ${prompt}.`);
    return line;
  }
  upstream.script((request) => {
    const line = lineOf(promptOf(request));
    line.arrivals += 1;
    line.arrive(request);
    return line.script;
  });
  return {
    /** Sets the script of a prompt and resolves to its first request once that has arrived. */
    expect: (prompt: string, script: UpstreamScript) => {
      const { promise, resolve } = Promise.withResolvers<RecordedRequest>();
      lines.set(prompt, { script, arrive: resolve, arrivals: 0 });
      return promise;
    },
    /** The number of requests with this prompt so far. */
    arrivals: (prompt: string) => lineOf(prompt).arrivals,
    scriptOf: (prompt: string) => lineOf(prompt).script,
  };
}

function promptOf({ body }: RecordedRequest): string {
  const { messages, input = messages?.[0]?.content } = body as {
    readonly messages?: readonly { readonly content: string }[];
    readonly input?: string;
  };
  return input ?? '';
}

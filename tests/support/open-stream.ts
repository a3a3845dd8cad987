import { type CallOptions, COMPLETIONS } from './client.ts';

/** A streamed call that is read bit by bit. */
export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** Resolves when what came so far contains the text; rejects when the stream ends without it. */
  readonly until: (text: string) => Promise<void>;
  /** What is there to be read by now. Waits for no more than what has come already. */
  readonly soFar: () => Promise<string>;
  /** Reads to the end and gives all of it. */
  readonly whole: () => Promise<string>;
  /** Hangs up, as a caller who leaves. */
  readonly leave: () => void;
}

/** Sends a streamed completion and resolves with its head. */
export async function openStream(
  options: CallOptions,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<OpenStream> {
  const { url, key = '', user = '', headers } = options;
  const hangUp = new AbortController();
  const response = await fetch(url + COMPLETIONS, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-service-user': user, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model: 'large',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
      ...fields,
    }),
    signal: hangUp.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let reading: Promise<boolean> | undefined;
  async function readOnce(): Promise<boolean> {
    const part = await reader?.read();
    text += part?.value ?? '';
    reading = undefined;
    return part?.done === false;
  }
  /** One read at a time, so that one that nobody waits for loses nothing. */
  function readMore(): Promise<boolean> {
    reading ??= readOnce();
    return reading;
  }
  return {
    status: response.status,
    headers: response.headers,
    until: async (wanted) => {
      while (!text.includes(wanted)) if (!(await readMore())) throw new Error(`The stream ended: ${text}`);
    },
    soFar: async () => {
      const nothing = new Promise<false>((resolve) => {
        setTimeout(resolve, 0, false);
      });
      while (await Promise.race([readMore(), nothing]));
      return text;
    },
    whole: async () => {
      while (await readMore());
      return text;
    },
    leave: () => hangUp.abort(),
  };
}

/** The payloads of a stream's frames, parsed; the last is the text `[DONE]` in a stream that ended well. */
export function payloadsOf(text: string): readonly unknown[] {
  const frames = text.split('\n\n');
  if (frames.pop() !== '') throw new Error(`The stream does not end with a whole frame: ${text}`);
  return frames.map((frame) => {
    const match = /^data: (.*)$/.exec(frame);
    if (match?.[1] === undefined) throw new Error(`This is no frame: ${frame}`);
    return match[1] === '[DONE]' ? '[DONE]' : (JSON.parse(match[1]) as unknown);
  });
}

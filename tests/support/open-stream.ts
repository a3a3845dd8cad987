import { type CallOptions, COMPLETIONS } from './client.ts';

/** Sends a streamed completion and resolves with its head. With a `path`, the fields are all of its body. */
export async function openStream(
  options: CallOptions & { readonly path?: string },
  fields: Readonly<Record<string, unknown>> = {},
) {
  const { url, key = '', user = '', headers, path } = options;
  const hangUp = new AbortController();
  const response = await fetch(url + (path ?? COMPLETIONS), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-service-user': user, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      ...(path === undefined && { model: 'large', messages: [{ role: 'user', content: 'Hello' }] }),
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
  /** One read at a time, so that an abandoned read loses nothing. */
  function readMore(): Promise<boolean> {
    reading ??= readOnce();
    return reading;
  }
  return {
    status: response.status,
    headers: response.headers,
    /** Resolves once the text has arrived, or rejects if the stream ends without it. */
    until: async (wanted: string) => {
      while (!text.includes(wanted)) if (!(await readMore())) throw new Error(`The stream ended: ${text}`);
    },
    /** What can be read by now, without waiting for more. */
    soFar: async () => {
      const nothing = new Promise<false>((resolve) => {
        setTimeout(resolve, 0, false);
      });
      while (await Promise.race([readMore(), nothing]));
      return text;
    },
    /** Reads to the end and returns everything. */
    whole: async () => {
      while (await readMore());
      return text;
    },
    /** Hangs up, like a caller who leaves. */
    leave: () => hangUp.abort(),
  };
}

/**
 * The parsed payloads of a stream's frames, without its comments. In a stream that ended normally, the last one is the text
 * `[DONE]`.
 */
export function payloadsOf(text: string): readonly unknown[] {
  const frames = text.split('\n\n');
  if (frames.pop() !== '') throw new Error(`The stream does not end with a whole frame: ${text}`);
  const events = frames.filter((frame) => !frame.startsWith(':'));
  return events.map((frame) => {
    const match = /^data: (.*)$/.exec(frame);
    if (match?.[1] === undefined) throw new Error(`This is no frame: ${frame}`);
    return match[1] === '[DONE]' ? '[DONE]' : (JSON.parse(match[1]) as unknown);
  });
}

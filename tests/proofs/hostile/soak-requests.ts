import { COMPLETIONS } from '../../support/client.ts';

export const STREAMS = 1_000;

interface Target {
  readonly url: string;
  readonly key: string;
  readonly user: string;
  /** The pages that may be asked for, by name, and the cookie of a free account for those of the console. */
  readonly paths: Readonly<Record<string, string>>;
  readonly cookie: string;
}

/** What this process was started with: the address to call, and the caller's identity. */
export function targetOf(): Target {
  return JSON.parse(process.argv[2] ?? '{}') as Target;
}

/** The bytes of a streamed call, and the port that they go to. */
export function streamRequest(prompt: string): { readonly port: number; readonly bytes: string } {
  const { url, key, user } = targetOf();
  const body = JSON.stringify({ model: 'large', stream: true, messages: [{ role: 'user', content: prompt }] });
  const head = `POST ${COMPLETIONS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nx-service-user: ${user}\r\n`;
  return { port: Number(new URL(url).port), bytes: `${head}content-length: ${body.length}\r\n\r\n${body}` };
}

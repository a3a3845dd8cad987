import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { HttpClient, RequestError } from './client.ts';
import { responseBytes, startRawServer } from './testing/raw-server.ts';
import { waitUntil } from './testing/wait-until.ts';

const README = new URL('../README.md', import.meta.url);

/** The names that the example uses and does not declare. */
interface Surroundings {
  readonly body: string;
  readonly signal: AbortSignal;
  readonly take: (text: string) => boolean;
  readonly done: () => void;
  readonly failed: (kind: RequestError['kind']) => void;
}

interface Example {
  readonly run: (surroundings: Surroundings) => Promise<{ http: HttpClient; status: number; text: string | undefined }>;
}

/** The example as a module: its import stays, the rest becomes a function that calls this upstream. */
function moduleOf(upstream: URL): string {
  const [, block = ''] = /^```ts\n([^]*?)^```$/m.exec(readFileSync(README, 'utf8')) ?? [];
  const client = new URL('client.ts', import.meta.url).href;
  const [imports = '', ...rest] = block
    .replace('@purser/upstream-http/client.ts', client)
    .replace('https://api.example.com/v1/chat/completions', upstream.href)
    .split('\n\n');
  const names = 'body, signal, take, done, failed';
  return `${imports}\nexport async function run({ ${names} }) {\n${rest.join('\n\n')}\nreturn { http, status, text };\n}\n`;
}

test('OP-18 the README example reads a buffered and a streamed response', async (t) => {
  const { url, requests } = await startRawServer({
    t,
    respond: ({ socket }) => void socket.write(responseBytes('hello')),
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'purser-readme-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'example.mjs');
  writeFileSync(file, moduleOf(url));
  const { run } = (await import(pathToFileURL(file).href)) as Example;

  const events: string[] = [];
  const take = (text: string): boolean => events.push(text) > 0;
  const failed = (kind: string): void => void events.push(kind);
  const { signal } = new AbortController();
  const { http, status, text } = await run({ body: '{}', signal, take, done: () => events.push('done'), failed });
  t.after(http.close);
  await waitUntil('the streamed response has ended', () => events.length > 1);

  assert.deepEqual({ status, text, events }, { status: 200, text: 'hello', events: ['hello', 'done'] });
  assert.equal(requests.length, 2);
});

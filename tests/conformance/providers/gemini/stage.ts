// A provider of kind `google` at the server of this folder, and calls through it, plain and streamed.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { Chunk, Completion } from '../../../../packages/service/src/providers/port/completion.ts';
import { googleDialect } from '../../../../packages/service/src/providers/google/dialect.ts';
import { fixedKey, type KeySource } from '../../../../packages/service/src/providers/keys/key-source.ts';
import type { Provider, ProviderCall } from '../../../../packages/service/src/providers/port/provider.ts';
import { createTranslated } from '../../../../packages/service/src/providers/translated/translated.ts';
import { createVendorHttp } from '../../../../packages/service/src/providers/transport/vendor-fetch.ts';
import { startGeminiServer } from './server.ts';
import type { GeminiAnswer, Json } from './wire.ts';

export const KEY = 'gemini-key';
export const FLASH = 'gemini-2.5-flash';
export const NEW = 'gemini-3.5-flash';
export const USAGE = { promptTokenCount: 20, candidatesTokenCount: 7, thoughtsTokenCount: 5, totalTokenCount: 32 };
export const HELLO = { parts: [{ text: 'Good morning.' }], usage: USAGE } satisfies GeminiAnswer;

/** Ends after the tests of the file. */
export async function setGeminiStage() {
  const server = await startGeminiServer({ apiKey: KEY });
  const http = createVendorHttp();
  after(async () => {
    http.close();
    await server.close();
  });
  const gemini = (key: KeySource): Provider => {
    const dialect = googleDialect({ kind: 'google', baseUrl: `${server.origin}/v1beta` });
    return createTranslated({ dialect, http, key });
  };
  const provider = gemini(fixedKey('gemini', KEY));
  return {
    server,
    provider,
    gemini,
    /** The same call plain and streamed. */
    both: async (answer: GeminiAnswer, request: Json = {}, model = FLASH) => {
      server.script(answer);
      const completion = await provider.complete(callOf(request, model));
      const chunks = await streamOf(provider, callOf(request, model));
      return { completion, joined: joined(chunks) };
    },
    bodyOf: (index = -1): Json => server.bodyOf(index),
  };
}

export function callOf(request: Json, providerModel = FLASH): ProviderCall {
  const messages = request['messages'] ?? [{ role: 'user', content: 'Hello' }];
  const whole = { ...request, messages };
  const limits = { outputTokens: 500, outputLimitParameter: 'max_completion_tokens', timeoutMs: 5_000 } as const;
  return { request: whole, requestText: JSON.stringify(whole), providerModel, ...limits };
}

export async function streamOf(provider: Provider, call: ProviderCall): Promise<Chunk[]> {
  const source = await provider.stream(call, new AbortController().signal);
  const chunks = [...((await source.first()) ?? [])];
  await source.rest((more) => {
    chunks.push(...more);
    return true;
  });
  return chunks as Chunk[];
}

interface Piece extends Json {
  readonly index: number;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** What a client makes of the deltas. */
export function joined(chunks: readonly Chunk[]) {
  const calls: { id?: unknown; function: { name: string; arguments: string }; extra_content?: unknown }[] = [];
  let content = '';
  let shown = '';
  let signed = 0;
  const details: unknown[] = [];
  for (const { delta } of chunks.flatMap(({ choices }) => choices)) {
    if (typeof delta['content'] === 'string') content += delta['content'];
    if (typeof delta['reasoning_content'] === 'string') shown += delta['reasoning_content'];
    details.push(...((delta['reasoning_details'] ?? []) as unknown[]));
    for (const piece of (delta['tool_calls'] ?? []) as Piece[]) {
      const { index, function: called = {}, ...rest } = piece;
      const call = (calls[index] ??= { function: { name: '', arguments: '' } });
      call.function.name += called.name ?? '';
      call.function.arguments += called.arguments ?? '';
      Object.assign(call, rest);
      if (rest['extra_content'] !== undefined) signed += 1;
    }
  }
  const usage = chunks.findLast((chunk) => chunk.usage !== undefined)?.usage;
  return {
    content,
    reasoning_content: shown,
    reasoning_details: details,
    signed,
    calls,
    usage,
    reason: chunks.at(-1)?.choices[0]?.finish_reason,
  };
}

export function messageOf({ choices }: Completion): Json {
  assert.equal(choices.length, 1);
  return choices[0]?.message ?? {};
}

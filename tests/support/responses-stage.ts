// A service with models whose upstream serves Responses. A token costs a micro, a cached one a tenth of it.
import assert from 'node:assert/strict';
import { MICRO_A_TOKEN } from './catalogue.ts';
import type { Reply } from './client.ts';
import { payloadsOf } from './open-stream.ts';
import { billNamed } from './receipts.ts';
import type { NextScript } from './scripted-upstream.ts';
import { setStage } from './stage.ts';
import { waitUntil } from './wait-until.ts';

export const BALANCE = 1_000_000;
/** What `RESPONSE_USAGE` costs: 12 tokens at a micro, 8 cached ones at a tenth of it, 11 of output: 23.8. */
export const CHARGE = 24;
export const QUESTION = [{ role: 'user', content: 'Where?' }];
/** The fields of a stream that tells its usage. */
export const WITH_USAGE = { stream: true, stream_options: { include_usage: true } };

export async function setResponsesStage() {
  const stage = await setStage({
    checksBooks: true,
    catalogue: (catalogue) => {
      const exact = { ...catalogue.models[0], price: MICRO_A_TOKEN, marginBasisPoints: 0 };
      const common = { ...exact, provider: undefined, providerModel: undefined };
      const reasoning = { parameters: ['*', 'reasoning_effort'], apis: ['responses'], onAbandon: 'drain' };
      const both = [
        { provider: 'upstream', providerModel: 'newest-upstream', apis: ['responses'] },
        { provider: 'upstream', providerModel: 'older-upstream' },
      ];
      const models = [
        ...catalogue.models,
        { ...exact, id: 'acme.new-1', providerModel: 'new-upstream', apis: ['responses'], imageTokensMax: 100 },
        { ...exact, id: 'acme.sealing-1', providerModel: 'sealing-upstream', ...reasoning },
        {
          ...exact,
          id: 'acme.searching-1',
          providerModel: 'searching-upstream',
          apis: ['responses'],
          price: { ...MICRO_A_TOKEN, microsPerSearch: 10_000 },
          searchesMax: 5,
        },
        { ...exact, id: 'acme.chat-1', providerModel: 'chat-upstream' },
        { ...common, id: 'acme.both-1', upstreams: both },
      ];
      return { ...catalogue, models };
    },
  });
  const { upstream, service, app, newUser, callAs } = stage;

  /** A call of a fresh user, with its bill. The wallet has the rest, and nothing is held. */
  async function call(script: NextScript, fields: Readonly<Record<string, unknown>> = {}) {
    const user = await newUser(BALANCE);
    upstream.script(script);
    const reply = await callAs(
      user,
      { model: 'acme.new-1', messages: QUESTION, ...fields },
      { headers: { 'x-correlation-id': user } },
    );
    const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
    assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
    return { reply, bill };
  }

  /** What a provider got last. */
  function sent(): Readonly<Record<string, unknown>> {
    return upstream.requests.at(-1)?.body as Readonly<Record<string, unknown>>;
  }

  return { ...stage, call, sent };
}

interface Told {
  readonly content: string;
  readonly reasoning_content: string;
  readonly details: readonly Readonly<Record<string, unknown>>[];
  readonly calls: readonly { id: string; name: string; arguments: string }[];
  readonly reasons: readonly unknown[];
  readonly usage: unknown;
  readonly isDone: boolean;
}

/** A stream, joined as clients join it. */
export function joined({ text, status }: Reply): Told {
  assert.equal(status, 200, text);
  const told = {
    content: '',
    reasoning_content: '',
    details: [] as Told['details'][number][],
    usage: undefined as unknown,
  };
  const calls: { id: string; name: string; arguments: string }[] = [];
  const reasons: unknown[] = [];
  const payloads = payloadsOf(text);
  for (const payload of payloads) {
    if (typeof payload === 'string') continue;
    const {
      choices = [],
      usage,
      error,
    } = payload as {
      choices?: readonly { delta: Record<string, never>; finish_reason: unknown }[];
      usage?: unknown;
      error?: unknown;
    };
    assert.equal(error, undefined, text);
    told.usage = usage ?? told.usage;
    for (const { delta, finish_reason: reason } of choices) {
      const said = delta as {
        content?: string;
        reasoning_content?: string;
        reasoning_details?: Told['details'];
        tool_calls?: readonly { index: number; id?: string; function: { name?: string; arguments?: string } }[];
      };
      told.content += said.content ?? '';
      told.reasoning_content += said.reasoning_content ?? '';
      told.details.push(...(said.reasoning_details ?? []));
      for (const { index, id, function: called } of said.tool_calls ?? []) {
        const one = (calls[index] ??= { id: '', name: '', arguments: '' });
        one.id ||= id ?? '';
        one.name += called.name ?? '';
        one.arguments += called.arguments ?? '';
      }
      if (reason !== null) reasons.push(reason);
    }
  }
  return { ...told, calls, reasons, isDone: payloads.at(-1) === '[DONE]' };
}

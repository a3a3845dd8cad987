// A service with models of Claude at its own vendor. A token costs a micro, a cached one a tenth of it, one that is written to a cache 1.25, or 2 for an hour.
import assert from 'node:assert/strict';
import { type catalogueAt, MICRO_A_TOKEN } from './catalogue.ts';
import type { Fields } from './claude-upstream.ts';
import { type Reply, send } from './client.ts';
import { billNamed } from './receipts.ts';
import type { NextScript } from './scripted-upstream.ts';
import { setStage } from './stage.ts';
import { waitUntil } from './wait-until.ts';

export const BALANCE = 1_000_000;
/** Longer than every prompt that the vendor counts here, so that no report is above its bound. */
const QUESTION = [{ role: 'user', content: 'Where? '.repeat(1_000) }];
const CACHE = { cacheWriteMicrosPerMillion: 1_250_000, cacheWriteLongMicrosPerMillion: 2_000_000 };

interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

function withClaudes(catalogue: ReturnType<typeof catalogueAt>): unknown {
  const at = { kind: 'anthropic', baseUrl: catalogue.providers.upstream.baseUrl, apiKeyEnv: 'CLAUDE_KEY' };
  const common = { ...catalogue.models[0], price: { ...MICRO_A_TOKEN, ...CACHE }, marginBasisPoints: 0 };
  const claude = { ...common, outputLimitParameter: undefined, contextTokens: 200_000, maxOutputTokens: 8_000 };
  const many = { ...claude, provider: undefined, providerModel: undefined };
  const models = [
    ...catalogue.models,
    { ...claude, id: 'acme.claude-1', provider: 'claude', providerModel: 'claude-opus-5-5' },
    {
      ...claude,
      id: 'acme.named-1',
      provider: 'claude',
      providerModel: 'claude-opus-5-5',
      parameters: ['*', 'safety_identifier'],
    },
    {
      ...claude,
      id: 'acme.unpriced-1',
      provider: 'claude',
      providerModel: 'claude-opus-5-5',
      price: MICRO_A_TOKEN,
    },
    { ...claude, id: 'acme.vertex-1', provider: 'vertex', providerModel: 'claude-opus-5-5@20260101' },
    {
      ...claude,
      id: 'acme.bedrock-1',
      provider: 'bedrock',
      providerModel: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
      imageTokensMax: 4_096,
    },
    { ...claude, id: 'acme.bedrock-keyed-1', provider: 'bedrock-keyed', providerModel: 'eu.anthropic.claude-opus-4-7' },
    {
      ...many,
      id: 'acme.two-1',
      upstreams: [
        { provider: 'claude', providerModel: 'claude-opus-5-5' },
        { provider: 'spare', providerModel: 'claude-sonnet-5-5' },
      ],
    },
    {
      ...many,
      id: 'acme.mixed-1',
      upstreams: [
        { provider: 'claude', providerModel: 'claude-opus-5-5' },
        { provider: 'upstream', providerModel: 'other-upstream' },
      ],
    },
  ];
  const vertex = {
    kind: 'vertex',
    project: 'shop-1',
    location: 'europe-west4',
    endpoint: new URL(at.baseUrl).origin,
    apiKeyEnv: at.apiKeyEnv,
  };
  const bedrock = { kind: 'bedrock', region: 'eu-central-1', endpoint: vertex.endpoint };
  const keyed = { ...bedrock, apiKeyEnv: at.apiKeyEnv };
  const claudes = { claude: at, spare: { ...at }, vertex, bedrock, 'bedrock-keyed': keyed };
  return { ...catalogue, providers: { ...catalogue.providers, ...claudes }, models };
}

export async function setClaudeStage() {
  const stage = await setStage({
    checksBooks: true,
    environment: { CLAUDE_KEY: 'sk-of-the-operator' },
    catalogue: withClaudes,
  });

  const { upstream, service, app, newUser } = stage;

  /** A call of a fresh user, with its bill. The wallet has the rest, and nothing is held. */
  async function ask(script: NextScript, fields: Fields = {}, { headers = {}, path = '/v1/messages' }: Asking = {}) {
    const user = await newUser(BALANCE);
    upstream.script(script);
    const body = { model: 'acme.claude-1', max_tokens: 500, messages: QUESTION, ...fields };
    const named = { 'x-correlation-id': user, ...headers };
    const reply = await send(path, { url: service.url, key: app.liveKey, user, headers: named, body });
    const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
    assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
    return { reply, bill };
  }

  const asChat = (script: NextScript, fields: Fields = {}) =>
    ask(script, { max_tokens: undefined, max_completion_tokens: 500, ...fields }, { path: '/v1/chat/completions' });

  /** What Claude's vendor got last. */
  function sent() {
    return upstream.requests.at(-1) ?? assert.fail('Nothing was sent.');
  }

  return { ...stage, ask, asChat, sent };
}

export function eventsIn({ text }: Pick<Reply, 'text'>): readonly Fields[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Fields);
}

/** What nobody may learn of the operator's account. */
export const SECRETS = /secret|priority|claude-opus|sk-of-the-operator|vendor says/;

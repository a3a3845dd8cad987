import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat, type Reply } from '../support/client.ts';
import { assertRefusal } from '../support/refusal.ts';
import { scenariosOf } from '../support/scenarios.ts';
import { saying } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

/** Adds a model whose provider has no key here, and a disabled reserved model. */
const stage = await setStage({
  catalogue: ({ providers, models, aliases }) => ({
    providers: { ...providers, keyless: { ...providers.upstream, apiKeyEnv: 'TEST_KEY_THAT_IS_NOT_SET' } },
    models: [
      ...models,
      { ...models[0], id: 'acme.keyless-1', provider: 'keyless' },
      { ...models[1], id: 'acme.gone-1', enabled: false },
    ],
    aliases: { ...aliases, keyless: 'acme.keyless-1', gone: 'acme.gone-1' },
  }),
});
const { upstream, service, app: thirdParty } = stage;
const scenarios = scenariosOf(stage);
const firstParty = await service.addApp({ isFirstParty: true });
for (const app of [thirdParty, firstParty]) await service.fund(app, 'u', 1_000_000);

function ask(key: string, model: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
  return chat({ url: service.url, key, user: 'u' }, { model, ...fields });
}

const NOT_SERVED: readonly (readonly [string, string])[] = [
  ['an unknown model', 'gpt-99'],
  ['a disabled model', 'acme.off-1'],
  ['an alias of a disabled model', 'off'],
  ['a disabled reserved model', 'acme.gone-1'],
  ['an alias of a disabled reserved model', 'gone'],
  ['a model whose provider has no key here', 'acme.keyless-1'],
  ['an alias of a model whose provider has no key here', 'keyless'],
  ['the provider’s own name of a model', 'large-upstream'],
  ['a name in another case', 'LARGE'],
  ['a name with a trailing space', 'large '],
  ['a name that every JavaScript object has', '__proto__'],
];

const as = (keys: readonly string[]) => keys.map((key) => ({ key, user: 'u' }));
const THIRD = as([thirdParty.liveKey, thirdParty.testKey]);
const FIRST = as([firstParty.liveKey, firstParty.testKey]);

/** A call for a model, plain and streamed. */
const both = (model: string) => [{ chat: { model } }, { chat: { model, stream: true } }];

/** Asserts that an answer names no other model of the catalogue. */
function namesOnly(name: string) {
  return ({ text }: Reply) => {
    for (const target of text.match(/acme\.[\w-]+/g) ?? []) assert.equal(target, name, text);
  };
}

scenarios(
  { as: [...THIRD, ...as([firstParty.liveKey])], code: 'BAD_REQUEST', param: 'model', hasLink: false, asked: 0 },
  NOT_SERVED.map(([what, name]) => ({
    name: `CC-04 ${what} is refused with the name that was sent`,
    steps: both(name),
    contains: [`\`${name}\``],
    and: namesOnly(name),
  })),
);

test('CC-04 refusals of unknown and disabled models differ only in the name', async () => {
  const messages = await Promise.all(
    ['acme.none-1', 'acme.off-1'].map(async (name) => {
      return String((await ask(thirdParty.liveKey, name)).error['message']).replaceAll(name, 'NAME');
    }),
  );
  assert.equal(messages[0], messages[1]);
});

test('CC-04 a very long name is repeated in part', async () => {
  const reply = await ask(thirdParty.liveKey, 'x'.repeat(500_000));
  assertRefusal(reply, { code: 'BAD_REQUEST', param: 'model' });
  assert.match(reply.text, /x{100}/);
  assert.ok(reply.text.length < 1_000);
});

const RESERVED = ['acme.secret-1', 'secret'];

scenarios(
  { as: THIRD, code: 'MODEL_NOT_ENTITLED', param: 'model', hasLink: false, asked: 0 },
  RESERVED.map((name) => ({
    name: `CC-05 a third party’s call to a reserved model as ${name} is refused`,
    steps: both(name),
    contains: [`\`${name}\``, /GET \/v1\/models|operator/],
    and: async (reply) => {
      namesOnly(name)(reply);
      assert.deepEqual(await service.wallet(thirdParty, 'u'), { balance: 1_000_000, held: 0, openStreams: 0 });
    },
  })),
);

scenarios(
  { as: FIRST, upstream: saying('Hi'), answers: { model: 'acme.secret-1' } },
  RESERVED.map((model) => ({
    name: `CC-05 the operator’s app can call a reserved model as ${model}`,
    chat: { model },
    and: () => assert.match(upstream.requests.at(-1)?.rawBody.toString() ?? '', /"model":"secret-upstream"/),
  })),
);

test('CC-05 refusing a reserved model creates no sandbox wallet', async () => {
  await chat({ url: service.url, key: thirdParty.testKey, user: 'never-seen' }, { model: 'secret' });
  const { rows } = await service.database.owner.query(`select from sandbox.wallets where user_id = 'never-seen'`);
  assert.equal(rows.length, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPseudonyms } from '../../packages/service/src/gateway/request/pseudonyms.ts';
import { type EndUserId, newAppId } from '../../packages/service/src/kernel/values/ids.ts';
import { keysOf } from '../support/keys.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import type { TestApp } from '../support/service.ts';
import { setStage } from '../support/stage.ts';
import type { Fields } from '../support/called-wire.ts';
import { ask, eachWire, type SpokenWire, WIRES_OF_OPENAI } from '../support/wires.ts';

/** Providers learn only names for the caller that mean nothing to them, and nothing else. */

const NAMED = ['safety_identifier', 'prompt_cache_key'];

const { upstream, service, app } = await setStage({
  catalogue: ({ models: [large], ...rest }) => {
    const named = { ...large, id: 'acme.named-1', parameters: NAMED };
    const few = { ...large, id: 'acme.few-1', parameters: ['stop'] };
    return { ...rest, models: [large, named, few], aliases: { large: 'acme.large-1' } };
  },
});
const other = await service.addApp();
for (const [owner, user] of [
  [app, 'anna'],
  [app, 'ben'],
  [other, 'anna'],
] as const) {
  await service.fund(owner, user, 1_000_000);
}
upstream.script({
  body: completionBody({ model: 'm', content: 'Hi', usage: { prompt_tokens: 1, completion_tokens: 1 } }),
});

async function sentFor(wire: SpokenWire, fields: Fields, caller: TestApp = app, user = 'anna'): Promise<Fields> {
  const options = { url: service.url, key: caller.liveKey, user };
  const reply = await ask(wire, options, { model: 'acme.named-1', ...fields });
  assert.equal(reply.status, 200, reply.text);
  const { rawBody, headers, body } = upstream.requests.at(-1) ?? assert.fail();
  assert.doesNotMatch(rawBody.toString() + JSON.stringify(headers), /anna|ben|CANARY|app_/);
  return body as Fields;
}

const NAME = /^[\w-]{43}$/;

eachWire.test(
  'CC-13 a user’s `safety_identifier` is always the same',
  async (wire) => {
    const names = [];
    for (const own of [undefined, null, 'CANARY', ''])
      names.push((await sentFor(wire, { safety_identifier: own }))['safety_identifier']);
    assert.match(String(names[0]), NAME);
    assert.equal(new Set(names).size, 1);
  },
  WIRES_OF_OPENAI,
);

eachWire.test('CC-13 a name differs per user and per app', async (wire) => {
  const names = [];
  for (const [caller, user] of [
    [app, 'anna'],
    [app, 'ben'],
    [other, 'anna'],
  ] as const) {
    names.push((await sentFor(wire, {}, caller, user))['safety_identifier']);
  }
  assert.equal(new Set(names).size, 3);
});

eachWire.test(
  'CC-13 a cache key is unique per user and app',
  async (wire) => {
    const names = [];
    for (const [key, caller, user] of [
      ['CANARY', app, 'anna'],
      ['CANARY-2', app, 'anna'],
      ['CANARY', app, 'ben'],
      ['CANARY', other, 'anna'],
    ] as const) {
      const first = (await sentFor(wire, { prompt_cache_key: key }, caller, user))['prompt_cache_key'];
      assert.match(String(first), NAME);
      assert.equal((await sentFor(wire, { prompt_cache_key: key }, caller, user))['prompt_cache_key'], first);
      names.push(first);
    }
    assert.equal(new Set(names).size, 4);
  },
  WIRES_OF_OPENAI,
);

eachWire.test(
  'CC-13 no cache key is invented or sent where unsupported',
  async (wire) => {
    for (const own of [undefined, null])
      assert.ok(!('prompt_cache_key' in (await sentFor(wire, { prompt_cache_key: own }))));
    const sent = await sentFor(wire, {
      model: 'acme.few-1',
      prompt_cache_key: 'CANARY',
      safety_identifier: 'CANARY',
      user: 'CANARY',
    });
    assert.deepEqual(Object.keys(sent).toSorted(), ['max_completion_tokens', 'messages', 'model']);
  },
  WIRES_OF_OPENAI,
);

eachWire.test(
  'CC-13 a model without a list gets no user',
  async (wire) => {
    const sent = await sentFor(wire, {
      model: 'large',
      prompt_cache_key: 'CANARY',
      safety_identifier: 'CANARY',
      user: 'CANARY',
    });
    assert.deepEqual(Object.keys(sent).toSorted(), ['max_completion_tokens', 'messages', 'model', 'prompt_cache_key']);
  },
  WIRES_OF_OPENAI,
);

test('CC-13 one derived name reveals nothing about another', () => {
  const [anna, appId] = ['anna' as EndUserId, newAppId()];
  const namesBy = (fill: number) => {
    const names = createPseudonyms(keysOf(Buffer.alloc(32, fill)));
    return [names.ofUser(appId, anna), names.ofCacheKey(appId, anna, ''), names.ofCacheKey(appId, anna, 'anna')];
  };
  assert.deepEqual(namesBy(1), namesBy(1));
  assert.equal(new Set([...namesBy(1), ...namesBy(2)]).size, 6);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMatch, readAliases } from '#price-lists/matching.ts';
import { readModelsDev } from '#price-lists/models-dev.ts';
import { readUpstreams } from '#price-lists/priced-upstreams.ts';

const ENTRY = { cost: { input: 1, output: 2 } };
const LIST = readModelsDev(
  JSON.stringify({
    openai: { models: { m: ENTRY, 'org/deep': ENTRY } },
    seek: { api: 'https://api.seek.test', models: { m: ENTRY } },
    plain: { api: 'https://api.two.test/v4/', models: { m: ENTRY } },
    plan: { api: 'https://api.two.test/coding/v4', models: { m: ENTRY } },
  }),
);

function upstreamAt(baseUrl: string, providerModel = 'm') {
  const file = {
    providers: { ours: { kind: 'openai-compatible', baseUrl } },
    models: [
      { id: 'a.m', provider: 'ours', providerModel, resale: 'open', contextTokens: 1_000, maxOutputTokens: 100 },
    ],
  };
  return readUpstreams(JSON.stringify(file));
}

function matched(baseUrl: string, options: readonly string[] = [], providerModel = 'm') {
  const upstreams = upstreamAt(baseUrl, providerModel);
  const [upstream] = upstreams;
  assert.ok(upstream !== undefined);
  const match = findMatch(upstream, LIST, readAliases(options, upstreams, LIST));
  return typeof match === 'string' ? match : `${match.provider.id}/${match.model}`;
}

test('MO-10 a model is found by address and name', () => {
  assert.equal(matched('https://api.openai.com/v1'), 'openai/m');
  assert.equal(matched('https://api.seek.test/v1'), 'seek/m');
  assert.equal(matched('https://api.two.test/v4'), 'plain/m');
  assert.equal(matched('https://api.two.test/coding/v4/'), 'plan/m');
});

test('MO-10 a model is never matched by a guess', () => {
  assert.match(matched('https://api.two.test/v5'), /no provider for `ours` \(https:.*--as ours=/);
  assert.match(matched('https://api.openai.com.evil.test/v1'), /no provider/);
  assert.match(matched('https://api.openai.com/v1', [], 'm-2'), /no model `m-2`.*--as ours\/m-2=openai\//);
  assert.match(matched('https://api.openai.com/v1', [], 'constructor'), /no model `constructor`/);
});

test('MO-10 a person may map a provider or model by hand', () => {
  assert.equal(matched('http://127.0.0.1:9/v1', ['ours=openai']), 'openai/m');
  assert.equal(matched('http://127.0.0.1:9/v1', ['ours/my-name=openai/org/deep'], 'my-name'), 'openai/org/deep');
  for (const [option, expected] of [
    ['theirs=openai', /before the `=`/],
    ['ours', /before the `=`/],
    ['ours=none', /no provider `none`/],
    ['ours/m=openai/none', /no model `openai\/none`/],
  ] as const) {
    assert.throws(() => matched('https://api.openai.com/v1', [option]), expected);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerSchema } from '@purser/contract/catalogue-providers.ts';
import { mayBeSentTo, providerKeysSchema } from '@purser/contract/provider-keys.ts';
import { createKeyRules } from '#providers/keys/key-rules.ts';
import { createProviderKeys } from '#providers/keys/provider-keys.ts';

const DEFINITIONS = providerKeysSchema.parse({
  one: { env: 'ONE_API_KEY', hosts: ['api.one.test'] },
  other: { env: 'OTHER_API_KEY', hosts: ['api.one.test', '*.two.test', 'http://127.0.0.1:9000'] },
  unset: { env: 'UNSET_API_KEY', hosts: ['api.one.test'] },
});
const VARIABLES: Readonly<Record<string, string>> = { ONE_API_KEY: 'k1', OTHER_API_KEY: 'k2', FREE_API_KEY: 'k3' };
const keys = createProviderKeys({
  providerKeys: DEFINITIONS,
  readEnvironment: (name) => VARIABLES[name],
  outboundEnvironment: {},
  clock: { nowMs: () => 0 },
});
const rules = createKeyRules(DEFINITIONS);

function providerAt(baseUrl: string, fields: object) {
  return providerSchema.parse({ kind: 'openai-compatible', baseUrl, ...fields });
}

const usable = (baseUrl: string, fields: object) =>
  keys.sourcesOf(providerAt(baseUrl, fields)).map((source) => [source?.name, source?.current()]);
const faults = (baseUrl: string, fields: object) => rules.faultOf(providerAt(baseUrl, fields))?.field;
const allowed = (baseUrl: string, fields: object) => rules.isAllowed(providerAt(baseUrl, fields));

test('MO-11 a key’s host is exact or a wildcard', () => {
  const cases = [
    ['api.one.test', 'https://api.one.test', true],
    ['API.one.test', 'https://api.one.test', true],
    ['api.one.test', 'http://api.one.test', false],
    ['api.one.test', 'https://api.one.test:8443', false],
    ['api.one.test', 'https://api.one.test.evil.test', false],
    ['api.one.test', 'https://xapi.one.test', false],
    ['api.one.test:8443', 'https://api.one.test:8443', true],
    ['*.two.test', 'https://a.b.two.test', true],
    ['*.two.test', 'https://two.test', false],
    ['*.two.test', 'https://eviltwo.test', false],
    ['http://127.0.0.1:9000', 'http://127.0.0.1:9000', true],
    ['http://127.0.0.1:9000', 'http://127.0.0.1:9001', false],
    ['[::1]:9', 'https://[::1]:9', true],
  ] as const;
  for (const [host, origin, is] of cases) assert.equal(mayBeSentTo({ hosts: [host] }, origin), is, `${host} ${origin}`);
});

test('MO-11 a settings key is never used elsewhere', () => {
  assert.deepEqual(usable('https://api.one.test/v1', { apiKey: 'one' }), [['one', 'k1']]);
  assert.deepEqual(usable('https://api.one.test/v1', { apiKeys: ['one', 'unset', 'other'] }), [
    ['one', 'k1'],
    ['other', 'k2'],
  ]);
  assert.deepEqual(usable('https://x.two.test/v1', { apiKeys: ['one', 'other'] }), [['other', 'k2']]);
  assert.deepEqual(usable('https://evil.test/v1', { apiKey: 'one' }), []);
  assert.deepEqual(usable('https://evil.test/v1', { apiKey: 'constructor' }), []);
  assert.deepEqual(usable('https://evil.test/v1', { apiKeyEnv: 'ONE_API_KEY' }), []);
  assert.deepEqual(usable('https://api.one.test/v1', { apiKeyEnv: 'ONE_API_KEY' }), [['ONE_API_KEY', 'k1']]);
  assert.deepEqual(usable('https://evil.test/v1', { apiKeyEnv: 'FREE_API_KEY' }), [['FREE_API_KEY', 'k3']]);
  assert.deepEqual(usable('https://evil.test/v1', {}), [[undefined, undefined]]);
});

test('MO-11 a variable is allowed for its key’s hosts only', () => {
  assert.equal(faults('https://api.one.test/v1', { apiKeys: ['one', 'nobody'] }), 'apiKeys.1');
  assert.equal(faults('https://evil.test/v1', { apiKey: 'one' }), 'apiKey');
  assert.equal(faults('https://evil.test/v1', { apiKeyEnv: 'ONE_API_KEY' }), 'apiKeyEnv');
  assert.equal(faults('https://evil.test/v1', { apiKeyEnv: 'FREE_API_KEY' }), undefined);
  assert.equal(allowed('https://api.one.test/v1', { apiKeyEnv: 'ONE_API_KEY' }), true);
  assert.equal(allowed('https://api.one.test/v1', { apiKeyEnv: 'FREE_API_KEY' }), false);
});

test('MO-04 a provider names its key in one way', () => {
  for (const fields of [
    { apiKey: 'a', apiKeyEnv: 'A_API_KEY' },
    { apiKeys: ['a'], apiKey: 'b' },
    { apiKeys: [] },
    { apiKey: '../x' },
  ]) {
    assert.throws(() => providerAt('https://api.one.test', fields));
  }
});

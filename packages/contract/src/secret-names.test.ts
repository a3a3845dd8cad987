import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerSchema } from './catalogue-providers.ts';
import { isSecretName } from './secret-names.ts';

const SECRET =
  `key api-key apikey apiKey x-api-key x-portkey-api-key x-portkey-virtual-key ocp-apim-subscription-key x-functions-key
  authorization x-authorization auth x-auth-token authToken access_token accesstoken clientSecret client-secret x-goog-api-key
  password cookie x-session-id sessionid signature sig x-amz-security-token credentials jwt bearer xapikey`.split(
    /\s+/,
  );
const PLAIN =
  `x-portkey-provider x-portkey-config x-portkey-metadata tokenizer x-tokenizer author x-author authority monkey keyboard
  keyword turkey x-hockey openai-organization http-referer x-title anthropic-version api-version safe_prompt signatures-off`.split(
    /\s+/,
  );

test('MO-11 a secret is told by the words of its name', () => {
  assert.deepEqual(
    SECRET.filter((name) => !isSecretName(name)),
    [],
  );
  assert.deepEqual(PLAIN.filter(isSecretName), []);
});

test('MO-11 Portkey can be an upstream, with its key named and not contained', () => {
  const portkey = {
    kind: 'openai-compatible',
    baseUrl: 'https://api.portkey.ai/v1',
    apiKey: 'portkey',
    authHeader: 'x-portkey-api-key',
    headers: { 'x-portkey-provider': 'openai', 'x-portkey-config': 'pc-prod' },
    query: { tokenizer: 'o200k' },
    extraBody: { author: 'us' },
  };
  assert.deepEqual(providerSchema.safeParse(portkey).error?.issues, undefined);
  for (const headers of [{ 'x-portkey-api-key': 'pk-1' }, { 'x-portkey-config': '{"api_key":"pk-1"}' }]) {
    assert.equal(providerSchema.safeParse({ ...portkey, headers }).success, false);
  }
});

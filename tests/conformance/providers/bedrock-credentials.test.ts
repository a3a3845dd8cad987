import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import {
  CONTAINER_TOKEN,
  MASTER,
  REGION,
  ROLE_ARN,
  SSO_TOKEN,
  startAwsAccounts,
  stsFailure,
  WEB_TOKEN,
} from './vendors/aws-accounts.ts';
import { PROXY_CERTIFICATE } from './vendors/proxy-certificate.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { providerSchema } from '../../../packages/contract/src/catalogue-providers.ts';
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import { createProviderKeys } from '../../../packages/service/src/providers/keys/provider-keys.ts';
import { type Provider, UpstreamError } from '../../../packages/service/src/providers/port/provider.ts';
import { createProviderRegistry } from '../../../packages/service/src/providers/registry.ts';

/** Where the credentials of a Bedrock provider come from, and how they are fetched: by calls through the provider port. */

const accounts = await startAwsAccounts();
const bedrock = await startScriptedUpstream();
const home = mkdtempSync(join(tmpdir(), 'purser-aws-'));
const authorities = getCACertificates('default');
setDefaultCACertificates([...authorities, PROXY_CERTIFICATE.cert]);
const before = { ...process.env };
const environment = { HTTPS_PROXY: accounts.proxy, HTTP_PROXY: accounts.proxy };
let registry: ReturnType<typeof registryOf>;

after(async () => {
  process.env = before;
  setDefaultCACertificates(authorities);
  accounts.close();
  await bedrock.close();
  rmSync(home, { recursive: true });
});

// Each test has connections and credentials of its own.
afterEach(() => registry.close());
beforeEach(() => {
  registry = registryOf();
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, environment, { HOME: home, AWS_CONFIG_FILE: join(home, 'none') });
  accounts.setLifetime(3_600);
  accounts.failWith(undefined);
  accounts.asked.length = 0;
  accounts.tunnels.length = 0;
  bedrock.script((request) => {
    const fault = accounts.faultOf(request);
    return fault === undefined ? ANSWER : { status: 403, headers: { 'x-amzn-errortype': fault }, body: '{}' };
  });
});

const CONTENT = [{ text: 'Good morning.' }];
const ANSWER = {
  body: JSON.stringify({
    output: { message: { role: 'assistant', content: CONTENT } },
    stopReason: 'end_turn',
    usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    metrics: { latencyMs: 5 },
  }),
};

function registryOf() {
  const keys = createProviderKeys({
    providerKeys: {},
    readEnvironment: (name) => process.env[name],
    outboundEnvironment: environment,
    clock: systemClock,
  });
  return createProviderRegistry({ simulatorUrl: undefined, keys, environment });
}

function providerOf(fields: object = {}): Provider {
  const endpoint = new URL(bedrock.baseUrl).origin;
  return registry.clientOf(providerSchema.parse({ kind: 'bedrock', region: REGION, endpoint, ...fields }), 0);
}

async function ask(provider: Provider): Promise<string | undefined> {
  const request = { messages: [{ role: 'user', content: 'Hello' }] };
  const limit = { outputTokens: 500, outputLimitParameter: 'max_completion_tokens', timeoutMs: 60_000 } as const;
  const call = { request, requestText: '', providerModel: 'eu.amazon.nova-lite-v1:0', ...limit };
  const { choices } = await provider.complete(call);
  assert.equal(choices[0]?.message['content'], 'Good morning.');
  const { headers } = bedrock.requests.at(-1)!;
  return /Credential=(\w+)\//.exec(String(headers.authorization))?.[1];
}

function useMaster(): void {
  const { accessKeyId, secretAccessKey, sessionToken } = MASTER;
  const names = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  Object.assign(process.env, names, { AWS_SESSION_TOKEN: sessionToken });
}

test('MO-09 MO-11 a role is assumed once for many calls', async () => {
  useMaster();
  const provider = providerOf({ roleArn: ROLE_ARN });
  const [first, second] = await Promise.all([ask(provider), ask(provider)]);
  assert.match(first ?? '', /^ASIA\d+$/);
  assert.equal(second, first);
  assert.deepEqual(accounts.asked, ['AssumeRole']);
  assert.deepEqual(accounts.tunnels, [`sts.${REGION}.amazonaws.com:443`]);
});

test('MO-09 role keys are renewed before they expire', async () => {
  useMaster();
  accounts.setLifetime(120);
  const provider = providerOf({ roleArn: ROLE_ARN });
  const first = await ask(provider);
  accounts.failWith(stsFailure(403, 'AccessDenied'));
  assert.equal(await ask(provider), first, 'a renewal that fails takes no keys away');
  await waitUntil('the renewal', () => accounts.asked.length === 2);
  accounts.failWith(undefined);
  const other = providerOf({ roleArn: ROLE_ARN });
  accounts.setLifetime(20);
  const ended = await ask(other);
  accounts.setLifetime(120);
  const renewed = await ask(other);
  assert.notEqual(renewed, ended);
  assert.equal(await ask(other), renewed);
  await waitUntil('the renewal', async () => (await ask(other)) !== renewed);
});

test('MO-09 ER-03 a refused role is `unauthorized`, a failing STS an outage', async () => {
  useMaster();
  const sent = bedrock.requests.length;
  for (const [failure, kind, words] of [
    [stsFailure(403, 'AccessDenied'), 'unauthorized', 'No AWS credentials could be had (AccessDenied).'],
    [stsFailure(500, 'InternalFailure'), 'outage', 'The service that gives AWS credentials failed.'],
  ] as const) {
    accounts.failWith(failure);
    await assert.rejects(ask(providerOf({ roleArn: ROLE_ARN })), (fault) => {
      assert.ok(fault instanceof UpstreamError && !inspect(fault).includes('CANARY'), inspect(fault));
      assert.deepEqual([fault.kind, fault.message], [kind, words]);
      return true;
    });
  }
  assert.equal(bedrock.requests.length, sent);
});

test('MO-09 MO-11 web identities and SSO profiles go through the proxy', async () => {
  const token = join(home, 'token');
  writeFileSync(token, WEB_TOKEN);
  const sts = `sts.${REGION}.amazonaws.com:443`;
  Object.assign(process.env, { AWS_WEB_IDENTITY_TOKEN_FILE: token, AWS_ROLE_ARN: ROLE_ARN });
  await ask(providerOf());
  delete process.env['AWS_WEB_IDENTITY_TOKEN_FILE'];
  const start = 'https://shop.awsapps.com/start';
  const config = `[profile web]\nrole_arn = ${ROLE_ARN}\nweb_identity_token_file = ${token}\n[profile sso]
    sso_start_url = ${start}\nsso_region = eu-west-1\nsso_account_id = 123456789012\nsso_role_name = models\n`;
  writeFileSync(join(home, 'config'), config.replaceAll(/^ +/gm, ''));
  const cache = join(home, '.aws', 'sso', 'cache');
  mkdirSync(cache, { recursive: true });
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const name = createHash('sha1').update(start).digest('hex');
  writeFileSync(join(cache, `${name}.json`), JSON.stringify({ accessToken: SSO_TOKEN, expiresAt }));
  process.env['AWS_CONFIG_FILE'] = join(home, 'config');
  for (const profile of ['web', 'sso']) {
    process.env['AWS_PROFILE'] = profile;
    await ask(providerOf());
  }
  assert.deepEqual(accounts.asked, ['AssumeRoleWithWebIdentity', 'AssumeRoleWithWebIdentity', 'sso']);
  const hosts = new Set([sts, 'portal.sso.eu-west-1.amazonaws.com:443']);
  assert.deepEqual(new Set(accounts.tunnels), hosts);
});

test('MO-09 MO-11 metadata servers give keys without the proxy', async () => {
  process.env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] = accounts.origin;
  await ask(providerOf());
  delete process.env['AWS_EC2_METADATA_SERVICE_ENDPOINT'];
  process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `${accounts.origin}/v1/credentials`;
  process.env['AWS_CONTAINER_AUTHORIZATION_TOKEN'] = CONTAINER_TOKEN;
  await ask(providerOf());
  assert.deepEqual(accounts.asked, ['instance token', 'instance role', 'instance', 'container']);
  assert.deepEqual(accounts.tunnels, []);
});

test('MO-09 MO-11 a Bedrock API key is sent only if the provider names it', async () => {
  const taken: unknown[] = [];
  bedrock.script(({ headers }) => {
    taken.push(headers.authorization, headers['x-amz-security-token']);
    return ANSWER;
  });
  useMaster();
  process.env['AWS_BEARER_TOKEN_BEDROCK'] = 'bedrock-api-key-1';
  await ask(providerOf({ apiKeyEnv: 'AWS_BEARER_TOKEN_BEDROCK' }));
  assert.deepEqual(taken, ['Bearer bedrock-api-key-1', undefined]);
  await ask(providerOf());
  assert.match(String(taken[2]), /^AWS4-HMAC-SHA256 Credential=AKIAMASTER\//);
  assert.equal(taken[3], MASTER.sessionToken);
});

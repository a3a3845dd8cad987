import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createSsoClient } from '#developers/sso/client.ts';
import type { SsoTicket } from '#developers/sso/ticket.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { createLog } from '#kernel/log.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

const TICKET = { state: 's', nonce: 'n', verifier: 'v'.repeat(43) } as SsoTicket;
const SETTINGS = {
  clientId: 'purser',
  clientSecret: 'secret',
  scopes: 'openid',
  roleClaim: 'groups',
  roles: new Map(),
  required: undefined,
  name: 'Example ID',
  isOnly: false,
};

test('CP-13 a faulty provider is reported and retried later', async (context) => {
  let issuer = 'https://attacker.test';
  let isUp = false;
  const server = createServer((_request, response) => {
    response.statusCode = isUp ? 200 : 503;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ issuer, authorization_endpoint: `${issuer}/auth` }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const callback = 'https://purser.test/sign-in/sso/callback';
  const log = createLog('silent');
  const client = createSsoClient({ settings: { ...SETTINGS, issuer: own }, callback, clock: systemClock, log });
  const begin = () => client.addressOf(TICKET, { isFresh: true });
  const away = async () => {
    const refusal = await begin();
    assert.ok(refusal instanceof Refusal);
    assert.deepEqual(
      [refusal.code, refusal.message.startsWith('Example ID does not answer')],
      ['UPSTREAM_PROVIDER_ERROR', true],
    );
  };
  await away();
  isUp = true;
  await away();
  issuer = own;
  const begun = await begin();
  assert.ok(!(begun instanceof Refusal));
  const address = new URL(begun);
  assert.equal(address.origin, own);
  const { code_challenge: challenge, ...asked } = Object.fromEntries(address.searchParams);
  assert.match(challenge ?? '', /^[\w-]{43}$/);
  assert.deepEqual(asked, {
    client_id: 'purser',
    response_type: 'code',
    redirect_uri: callback,
    scope: 'openid',
    state: 's',
    nonce: 'n',
    code_challenge_method: 'S256',
    prompt: 'login',
    max_age: '600',
  });
});

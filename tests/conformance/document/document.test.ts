import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { TAGS } from '../../../packages/contract/src/operation.ts';
import { OPERATIONS } from '../../../packages/contract/src/operations.ts';
import { httpSend, send } from '../../support/client.ts';
import { readDocument } from '../../support/document.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();
const { url } = service;
const { text } = await send('/openapi.json', { url });
const document = readDocument(text);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
);

test('OP-16 the document is valid OpenAPI 3.1 and reproducible', async () => {
  const { valid, errors } = await new Validator().validate(JSON.parse(text) as Record<string, string>);
  assert.equal(valid, true, JSON.stringify(errors));
  assert.match(document.openapi, /^3\.1\.\d$/);
  assert.equal((await send('/openapi.json', { url })).text, text);
});

test('OP-16 the document and its page name the public address', async () => {
  assert.deepEqual(document.servers, [{ url: 'https://purser.test' }]);
  assert.match((await send('/docs', { url })).text, /<pre>PURSER_URL=https:\/\/purser\.test\n/);
});

test('OP-16 operations and descriptions match one to one', () => {
  assert.deepEqual(operations.map(({ name }) => name).toSorted(), Object.keys(OPERATIONS).toSorted());
  const ids = operations.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual([...new Set(operations.flatMap(({ tags }) => tags))].toSorted(), Object.keys(TAGS).toSorted());
});

test('OP-16 every reference resolves, and every named part is used', () => {
  const targets = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)].map(
    ([, kind, name]) => `${kind}/${name}`,
  );
  const { securitySchemes: _schemes, ...referred } = document.components;
  const parts = Object.entries(referred).flatMap(([kind, all]) => Object.keys(all).map((name) => `${kind}/${name}`));
  assert.deepEqual([...new Set(targets)].toSorted(), parts.toSorted());
});

test('OP-16 every operation whose answer may be replayed takes an idempotency-key', () => {
  const replayed = having('headers/x-service-replayed');
  assert.ok(replayed.length > 0);
  assert.deepEqual(having('"idempotency-key"'), replayed);
});

test('AU-05 every operation names its callers', () => {
  const open = operations.filter(({ security }) => security.length === 0).map(({ operationId }) => operationId);
  const expected = ['register', 'signIn', 'finishSignIn', 'requestPasswordReset', 'resetPassword'];
  const signed = ['receiveStripeWebhook', 'receiveTestProcessorWebhook']; // Authenticated by their sender’s signature.
  assert.deepEqual(
    open.toSorted(),
    [...expected, ...signed, 'getHealth', 'getReadiness', 'getDescription', 'getReference', 'getStatus'].toSorted(),
  );
});

test('ER-04 every documented address lists its methods when it refuses another', async () => {
  for (const [template, methods] of Object.entries(document.paths)) {
    const path = template.replaceAll(/\{\w+\}/g, 'x');
    const taken = Object.keys(methods).map((method) => method.toUpperCase());
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'HEAD']) {
      if (taken.includes(method) || (method === 'HEAD' && taken.includes('GET'))) continue;
      if (template === '/sessions/current' || path === '/sessions/x') continue; // Two templates for one address.
      const reply = await httpSend(url, { method, path });
      assert.equal(reply.status, 405, `${method} ${path} ${reply.text}`);
      assert.deepEqual(reply.headers.get('allow')?.split(', ').toSorted(), taken.toSorted(), `${method} ${path}`);
      // Errors of Messages have a form of their own (WI-09).
      if (path === '/v1/messages' && method !== 'HEAD') assert.equal(reply.error['code'], 'METHOD_NOT_ALLOWED');
      else if (method !== 'HEAD') assertRefusal(reply, { code: 'METHOD_NOT_ALLOWED' }, `${method} ${path}`);
    }
  }
});

/** The operations whose description has this part. */
function having(part: string): readonly string[] {
  return operations.filter((operation) => JSON.stringify(operation).includes(part)).map(({ name }) => name);
}

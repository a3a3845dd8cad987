import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentCheck, type WholeAnswer } from './document.ts';

// Tests of the check itself with a small document: it must notice answers that differ from the document.

const item = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false };
const error = {
  type: 'object',
  properties: { error: { type: 'object', properties: { code: { enum: ['NOT_FOUND'] } }, required: ['code'] } },
  required: ['error'],
  additionalProperties: false,
};
const json = (schema: object) => ({ 'application/json': { schema } });
const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const { operationOf, faultOf } = documentCheck(
  JSON.stringify({
    paths: {
      '/items/{id}': {
        get: { responses: { 200: { content: json(ref('schemas', 'Item')) }, 404: ref('responses', 'NOT_FOUND') } },
        delete: { responses: { 204: {} } },
      },
      '/items/first': { post: { responses: { 200: { content: json({ type: 'integer' }) } } } },
      '/stream': {
        get: { responses: { 200: { content: { 'text/event-stream': { schema: ref('schemas', 'Item') } } } } },
      },
      '/v1/models/{model}': { get: { responses: { 200: {} } } },
    },
    components: {
      headers: { 'x-service-mode': {} },
      responses: { NOT_FOUND: { content: json(ref('schemas', 'Error')) } },
      schemas: { Item: item, Error: error, StreamError: error },
    },
  }),
);

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

function answer(
  method: string,
  path: string,
  status: number,
  body?: unknown,
  headers: object = JSON_TYPE,
): WholeAnswer {
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
  return { method, path, status, headers: { ...headers }, text };
}

test('an answer that matches the document has no fault', () => {
  const right = [
    answer('GET', '/items/1', 200, { id: 'a' }),
    answer('HEAD', '/items/1', 200, ''),
    answer('GET', '/items/1', 404, { error: { code: 'NOT_FOUND' } }),
    answer('DELETE', '/items/1', 204, '', {}),
    answer('PUT', '/items/1', 405, { error: {} }),
    answer('POST', '/items/first', 200, 1),
    answer('GET', '/items/first', 200, { id: 'a' }),
    answer(
      'GET',
      '/stream',
      200,
      'data: {"id":"a"}\n\n: \n\ndata: {"error":{"code":"NOT_FOUND"}}\n\ndata: [DONE]\n\n',
      {
        'content-type': 'text/event-stream; charset=utf-8',
      },
    ),
    answer('GET', '/v1/models/a/b', 200, '', { 'x-service-mode': 'sandbox' }),
    answer('GET', '/nowhere', 404, { error: {} }),
    answer('GET', '/items/%', 404, { error: {} }),
    answer('GET', '/page', 200, '<html>', { 'content-type': 'text/html' }),
    answer('GET', '/items/1', 400, { error: { message: 'The request is not valid HTTP, or so.' } }),
  ];
  for (const one of right) assert.equal(faultOf(one), undefined, JSON.stringify(one));
  assert.equal(operationOf(answer('GET', '/items/first', 200)), 'GET /items/{id}');
  assert.equal(operationOf(answer('POST', '/items/first', 200)), 'POST /items/first');
  assert.equal(operationOf(answer('GET', '/nowhere', 404)), 'nothing');
});

test('everything that the document does not have is a fault', () => {
  const wrong: readonly (readonly [WholeAnswer, RegExp])[] = [
    [answer('GET', '/items/1', 200, { id: 'a', more: 1 }), /additional properties/],
    [answer('GET', '/items/1', 200, {}), /required property 'id'/],
    [answer('GET', '/items/1', 404, { error: { code: 'CONFLICT' } }), /allowed values/],
    [answer('GET', '/items/1', 409, { error: {} }), /no such status/],
    [answer('GET', '/items/1', 400, { error: {} }), /no such status/],
    [answer('PUT', '/items/1', 200, {}), /no such method/],
    [answer('GET', '/nowhere', 200, {}), /no such path/],
    [answer('DELETE', '/items/1', 204, 'null'), /it has a body/],
    [answer('GET', '/items/1', 200, '<html>', { 'content-type': 'text/html' }), /its content is/],
    [answer('GET', '/v1/models/a', 200, '', { 'x-service-other': '1' }), /does not tell of the header/],
    [answer('GET', '/v1/models/a', 200, '', { 'retry-after': '1' }), /does not tell of the header/],
    [answer('GET', '/stream', 200, 'data: {"id":1}\n\n', { 'content-type': 'text/event-stream' }), /must be string/],
  ];
  for (const [one, fault] of wrong) assert.match(faultOf(one) ?? 'none', fault, JSON.stringify(one));
});

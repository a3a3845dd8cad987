import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replyOf } from './client.ts';
import { assertAnswer, nameOf, type Step } from './scenarios.ts';

const HEADERS = new Headers({ 'content-type': 'application/json; charset=utf-8', 'x-a': 'b' });
const ANSWER = replyOf({ status: 200, headers: HEADERS }, '{"appId":"app_1","name":"\\"Notes\\""}');
const REFUSAL = replyOf({ status: 404, headers: HEADERS }, '{"error":{"code":"NOT_FOUND","message":"No \\"app\\"."}}');

const MET: readonly Step[] = [
  {},
  { status: 200, has: { 'x-a': 'b', 'x-c': null } },
  { has: { 'x-a': /^b$/ } },
  { answers: { appId: 'app_1' } },
  { contains: ['app_1', /"appId"/], lacks: ['error', /^$/] },
];

const MISSED: readonly Step[] = [
  { status: 201 },
  { code: 'NOT_FOUND' },
  { page: 'Notes' },
  { has: { 'x-a': 'c' } },
  { has: { 'x-a': null } },
  { has: { 'x-c': /./ } },
  { answers: { appId: 'app_2' } },
  { answers: { other: 1 } },
  { contains: ['app_1', 'app_2'] },
  { contains: [/^app/] },
  { lacks: ['none', 'app_1'] },
  { lacks: [/App_1/i] },
];

test('a scenario passes only if the answer has everything that its row names', () => {
  for (const step of MET) assertAnswer(ANSWER, step);
  for (const step of MISSED) assert.throws(() => assertAnswer(ANSWER, step), JSON.stringify(step));
});

test('a scenario takes no refusal for an answer, and none that lacks its envelope', () => {
  assert.throws(() => assertAnswer(REFUSAL, { status: 404 }), /names a refusal by its code/);
  assert.throws(() => assertAnswer(REFUSAL, { code: 'NOT_FOUND' }), /correlationId/);
});

test('a scenario is named after its table, and after what it says or sends', () => {
  const table = { name: 'AU-03 a user is refused' };
  assert.equal(nameOf(table, { name: 'blank' }), 'AU-03 a user is refused: blank');
  assert.equal(nameOf(table, { request: 'GET /apps', code: 'NOT_FOUND' }), 'AU-03 a user is refused: GET /apps');
  assert.equal(nameOf({}, { name: 'AU-03 alone', body: {} }), 'AU-03 alone');
  assert.equal(nameOf(table, { body: { name: '' } }), 'AU-03 a user is refused: {"name":""}');
});

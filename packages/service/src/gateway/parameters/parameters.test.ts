import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  acceptedBy,
  findUnaccepted,
  KNOWN_PARAMETERS,
  passOn,
  withoutEmptyLists,
} from '#gateway/parameters/parameters.ts';

// For the values of each parameter, see tests/conformance/parameter-table.test.ts.

test('CC-03 the refusal names the first unknown parameter', () => {
  assert.equal(findUnaccepted({ model: 'm', first: 1, second: 2 }, KNOWN_PARAMETERS), 'first');
  assert.equal(findUnaccepted({ model: 'm', messages: [] }, KNOWN_PARAMETERS), undefined);
});

test('CC-03 null counts as absent only for known parameters', () => {
  const few = acceptedBy(new Set(['temperature']));
  assert.equal(findUnaccepted({ seed: null }, few), undefined);
  assert.equal(findUnaccepted({ seed: 1 }, few), 'seed');
  assert.equal(findUnaccepted({ unheard_of: null }, few), 'unheard_of');
});

test('CC-03 a default parameter usually counts as absent', () => {
  const few = acceptedBy(new Set(['tools']));
  assert.equal(findUnaccepted({ n: 1, temperature: 1, tool_choice: 'none' }, few), undefined);
  assert.equal(findUnaccepted({ n: 2 }, few), 'n');
  assert.equal(findUnaccepted({ tools: [], tool_choice: 'auto' }, few), undefined);
  assert.equal(findUnaccepted({ tools: [], tool_choice: 'none' }, few), undefined);
  assert.equal(findUnaccepted({ tools: [{}], tool_choice: 'none' }, few), 'tool_choice');
});

test('CC-03 either output limit name is accepted by every model, the model’s is sent', () => {
  for (const list of [undefined, new Set(['max_tokens']), new Set(['n']), new Set<string>()]) {
    assert.equal(findUnaccepted({ max_tokens: 1, max_completion_tokens: 1 }, acceptedBy(list)), undefined);
  }
});

test('CC-13 a parameter is passed on only if relevant', () => {
  const request = { model: 'm', n: 1, seed: 1, stop: null, user: 'u', store: false };
  assert.deepEqual(passOn(request, acceptedBy(new Set(['seed'])), { ours: {} }).request, { model: 'm', seed: 1 });
  assert.deepEqual(passOn(request, KNOWN_PARAMETERS, { ours: {} }).request, { model: 'm', n: 1, seed: 1 });
});

test('CC-03 a model’s list cannot override gateway parameters', () => {
  const none = acceptedBy(new Set(['unheard_of']));
  const ours = [
    'max_completion_tokens',
    'max_tokens',
    'model',
    'messages',
    'stream',
    'stream_options',
    'metadata',
    'user',
    'safety_identifier',
    'prompt_cache_key',
  ];
  assert.deepEqual([...none].toSorted(), ours.toSorted());
  assert.equal(acceptedBy(undefined), KNOWN_PARAMETERS);
});

test('CC-03 accepted parameters are computed once per model list', () => {
  const list = new Set(['seed']);
  assert.equal(acceptedBy(list), acceptedBy(list));
});

test('CC-03 a model’s list may add parameters or mean the whole format', () => {
  assert.ok(acceptedBy(new Set(['top_k'])).has('top_k'));
  assert.deepEqual([...acceptedBy(new Set(['*', 'top_k']))].toSorted(), [...KNOWN_PARAMETERS, 'top_k'].toSorted());
  assert.equal(findUnaccepted({ top_k: 1 }, acceptedBy(new Set(['*']))), 'top_k');
  assert.equal(findUnaccepted({ top_k: null, min_p: 0, repetition_penalty: 1 }, KNOWN_PARAMETERS), undefined);
});

test('CC-03 an empty list of tools or stops counts as absent', () => {
  const request = { model: 'm', stop: ['a'] };
  assert.equal(withoutEmptyLists(request), request);
  const empty = { tools: [], tool_choice: 'auto', parallel_tool_calls: true };
  assert.deepEqual(withoutEmptyLists({ ...request, ...empty }), request);
  assert.deepEqual(withoutEmptyLists({ model: 'm', stop: [], tools: [{}] }), { model: 'm', tools: [{}] });
});

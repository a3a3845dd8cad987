import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyResponsesBody } from '../../../../../../tests/support/any-responses-body.ts';
import { fit, readBody } from '../../../../../../tests/support/read-responses.ts';
import { checkShape } from '#gateway/request/validate-call.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

test('WI-04 a null says nothing, as any parameter', () => {
  const names = ['background', 'conversation', 'include', 'metadata', 'previous_response_id', 'prompt', 'reasoning'];
  for (const name of [...names, 'store', 'temperature', 'text', 'tool_choice', 'tools', 'truncation', 'user']) {
    assert.ok(!(readBody({ [name]: null }) instanceof Refusal), name);
  }
});

test('WI-04 lists of any length are read', () => {
  const count = 150_000;
  const parts = Array.from({ length: count }, () => ({ type: 'summary_text', text: '' }));
  const thought = { type: 'reasoning', summary: parts, content: parts, encrypted_content: 'x' };
  const said = Array.from({ length: count }, () => ({ role: 'assistant', content: 'a' }));
  const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' };
  const request = readBody({ input: [call, thought, ...said] });
  assert.ok(!(request instanceof Refusal), 'read');
});

const RUNS = 3_000;

test('WI-04 any body is refused by a field or read into a good request', () => {
  const seen = { read: 0, refused: 0 };
  fc.assert(
    fc.property(anyResponsesBody, fc.boolean(), (fields, webSearch) => {
      const fitted = fit(fields, { ownForm: webSearch, webSearch });
      if (fitted instanceof Refusal) {
        seen.refused += 1;
        assert.equal(fitted.code, 'BAD_REQUEST');
        assert.notEqual(fitted.detail.param ?? '', '', fitted.message);
        return;
      }
      seen.read += 1;
      assert.equal(checkShape(fitted.request), undefined);
      JSON.stringify(fitted.native);
    }),
    { numRuns: RUNS },
  );
  assert.ok(seen.read > RUNS / 20 && seen.refused > RUNS / 20, JSON.stringify(seen));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyResponsesBody } from '../../../../../../tests/support/any-responses-body.ts';
import { fit, readBody } from '../../../../../../tests/support/read-responses.ts';
import { checkShape } from '#gateway/request/validate-call.ts';
import { Refusal } from '#kernel/refusal.ts';

test('WI-04 a null says nothing, whatever the parameter', () => {
  const names = ['background', 'conversation', 'include', 'metadata', 'previous_response_id', 'prompt', 'reasoning'];
  for (const name of [...names, 'store', 'temperature', 'text', 'tool_choice', 'tools', 'truncation', 'user']) {
    assert.ok(!(readBody({ [name]: null }) instanceof Refusal), name);
  }
});

const RUNS = 3_000;

test('WI-04 any body is refused by a field or read into a good request', () => {
  const seen = { read: 0, refused: 0 };
  fc.assert(
    fc.property(anyResponsesBody, fc.boolean(), (fields, webSearch) => {
      const fitted = fit(fields, { webSearch });
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

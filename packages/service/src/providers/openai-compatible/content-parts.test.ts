import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutParts } from '#providers/openai-compatible/content-parts.ts';

const text = (words: string) => ({ type: 'text', text: words });
const thinking = (words: string) => ({ type: 'thinking', thinking: [text(words)] });

test('MO-09 content in parts becomes separate texts for speech and thought', () => {
  const cases = [
    [[text('a'), text('b')], { content: 'ab' }],
    [[thinking('a'), text('b'), { type: 'reference', reference_ids: [1] }], { content: 'b', reasoning_content: 'a' }],
    [[thinking('a'), { type: 'thinking', thinking: 'b' }], { reasoning_content: 'ab' }],
    [[], { content: '' }],
  ] as const;
  for (const [content, texts] of cases) {
    assert.deepEqual(withoutParts({ role: 'assistant', content }), { role: 'assistant', ...texts });
  }
  for (const message of [{ content: 'a' }, { content: null }, { content: [text('a'), { type: 'image_url' }] }]) {
    assert.equal(withoutParts(message), message);
  }
});

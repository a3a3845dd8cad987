import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutParts } from '#providers/answers/content-parts.ts';

const text = (words: string) => ({ type: 'text', text: words });
const thinking = (words: string) => ({ type: 'thinking', thinking: [text(words)] });

const picture = (image: unknown) => ({ type: 'image_url', image_url: image });
const shown = (index: number, url: string) => ({ type: 'image_url', index, image_url: { url } });

test('MO-09 content in parts becomes separate texts for speech and thought', () => {
  const cases = [
    [[text('a'), text('b')], { content: 'ab' }],
    [[thinking('a'), text('b'), { type: 'reference', reference_ids: [1] }], { content: 'b', reasoning_content: 'a' }],
    [[thinking('a'), { type: 'thinking', thinking: 'b' }], { reasoning_content: 'ab' }],
    [[], { content: '' }],
    [
      [text('a'), picture({ url: 'data:1' }), picture('data:2')],
      { images: [shown(0, 'data:1'), shown(1, 'data:2')], content: 'a' },
    ],
  ] as const;
  for (const [content, texts] of cases) {
    assert.deepEqual(withoutParts({ role: 'assistant', content }), { role: 'assistant', ...texts });
  }
  for (const message of [{ content: 'a' }, { content: null }, { content: [text('a'), { type: 'image_url' }] }]) {
    assert.equal(withoutParts(message), message);
  }
});

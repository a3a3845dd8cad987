import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { escapeHtml } from '#kernel/text/html.ts';
import { bodyOf } from '#web/guides/guide-body.ts';
import { FILES, linkFrom, type Reader, readGuides } from '#web/guides/library.ts';
import { type Block, blocksOf, parseMarkdown } from '#web/guides/markdown.ts';
import { partsOf, search } from '#web/guides/search.ts';

const DOCUMENTS = new URL('../../../../../docs/', import.meta.url);
const guides = await readGuides();

test('PG-08 guides only for several databases stand below such a line', async () => {
  const index = await readFile(new URL('guides/operator.md', DOCUMENTS), 'utf8');
  const [, below = ''] = index.split('\n**Only for several databases**\n');
  const listed = [...below.matchAll(/\]\((operator\/[\w-]+\.md)\)/g)].map(([, file]) => `guides/${file}`);
  assert.deepEqual(listed, ['guides/operator/high-availability.md', 'guides/operator/cells.md']);
  assert.deepEqual(
    FILES.filter(({ group }) => group === 'several').map(({ file }) => file),
    listed,
  );
});

test('PG-08 every guide is served with all its parts', async () => {
  const written = [...(await readdir(new URL('guides/', DOCUMENTS), { recursive: true }))].filter((name) =>
    name.endsWith('.md'),
  );
  const served = FILES.map(({ file }) => file).filter((file) => file.startsWith('guides/'));
  assert.deepEqual(served.toSorted(), written.map((name) => `guides/${name}`).toSorted());
  for (const guide of guides) {
    const text = await readFile(new URL(guide.file, DOCUMENTS), 'utf8');
    const fences = text.match(/^ *```/gm) ?? [];
    const rows = text.replaceAll(/^```[^]*?^```/gm, '').match(/^\|/gm) ?? [];
    const headings = text.replaceAll(/^```[^]*?^```/gm, '').match(/^#+ /gm) ?? [];
    const blocks = guide.chapters.flatMap((chapter) => chapter.blocks.flatMap(allOf));
    const count = (type: Block['type']) => blocks.filter((block) => block.type === type).length;
    assert.equal(count('code') * 2, fences.length, guide.file);
    const own = guide.chapters.length === 1 ? 1 : guide.chapters.length;
    assert.equal(count('heading') + own, headings.length, guide.file);
    const tables = blocks.filter((block) => block.type === 'table');
    assert.equal(
      tables.reduce((sum, { rows: some }) => sum + some.length + 2, 0),
      rows.length,
      guide.file,
    );
    for (const { header, rows: some } of tables) {
      for (const cells of some)
        assert.equal(cells.length, header.length, `${guide.file}: ${cells.map(({ text }) => text).join(' | ')}`);
    }
  }
});

test('PG-08 guides show no Markdown marks or dead links', () => {
  for (const guide of guides) {
    for (const chapter of guide.chapters) {
      const { text } = bodyOf(chapter.blocks, (target) => {
        const href = linkFrom(guides, guide, target);
        const isGuide = guides.some(
          ({ file }) =>
            target.startsWith('#') || new URL(target, `file:///docs/${guide.file}`).pathname === `/docs/${file}`,
        );
        if (isGuide) assert.notEqual(href, undefined, `${guide.file}: ${target}`);
        return href;
      });
      const words = text.replaceAll(/<code[^>]*>[^<]*<\/code>/g, '').replaceAll(/<[^>]+>/g, ' ');
      assert.doesNotMatch(words, /\*\S|\]\(|`|^#+ /m, guide.file);
      assert.ok(text.length < 40_000, `${guide.file} ${chapter.id}: ${text.length} characters`);
    }
  }
});

test('PG-08 text of a guide is escaped everywhere', async () => {
  const blocks = await parseMarkdown(
    '# <b>\n\n<script> `<i>` [<u>](https://x.test/"><b>)\n\n```js\n<b>\n```\n\n| <b> |\n|---|\n| `a<i>` |\n\n' +
      '<b>a block</b>\n\n> <i>quoted</i>\n\n- *<u>* **<b>** ![<i>](https://x.test/<b>)\n',
  );
  const { text } = bodyOf(blocks, (target) => target);
  assert.doesNotMatch(text, /<(b|i|u|script|img)\b/);
  for (const written of ['a block', '> ', 'quoted', '![']) assert.ok(text.includes(escapeHtml(written)), written);
  const { text: link } = bodyOf(await parseMarkdown('[a](javascript:1)'), (target) =>
    linkFrom(guides, guides[0]!, target),
  );
  assert.equal(link, '<p>a</p>\n');
});

test('PG-08 search finds parts by all words, headings first, with context', () => {
  const parts = partsOf(guides);
  const [first] = search(parts, 'webhooks', 'apps');
  assert.equal(first?.heading, 'Webhooks');
  assert.equal(first?.href, '/guides/app-developer?chapter=webhooks');
  const found = search(parts, 'x-service-delivery-attempt', 'apps');
  assert.ok(found.length > 0 && found.every(({ excerpt }) => excerpt.includes('x-service-delivery-attempt')));
  for (const { text } of parts) assert.doesNotMatch(text, /\w\]\(\w/);
  assert.deepEqual(search(parts, 'zzyzx webhooks', 'apps'), []);
  assert.deepEqual(search(parts, '  ', 'apps'), []);
});

test('PG-08 search finds guides for one reader only', () => {
  const parts = partsOf(guides);
  const readerOf = (href: string): Reader | undefined =>
    guides.find(({ name }) => href.replace(/[?#].*/, '') === `/guides/${name}`)?.reader;
  for (const reader of ['apps', 'owners', 'operators'] as const) {
    const found = search(parts, 'refund', reader); // All three have something about refunds.
    assert.ok(found.length > 0, reader);
    for (const { href } of found) assert.equal(readerOf(href), reader, href);
  }
});

function allOf(block: Block): readonly Block[] {
  return block.type === 'list'
    ? [block, ...block.items.flatMap(({ tokens }) => blocksOf(tokens).flatMap(allOf))]
    : [block];
}

test('PG-08 a search makes no text of the guides again', async (t) => {
  const parts = partsOf(await readGuides());
  const lowered = t.mock.method(String.prototype, 'toLowerCase');
  assert.ok(search(parts, 'Database backup', 'operators').length > 0);
  assert.equal(lowered.mock.callCount(), 1, 'the words that are searched for');
});

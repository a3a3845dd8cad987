import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../../support/page.ts';
import { assertPage, IN_CONSOLE, mainOf } from '../../support/page.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { setStage } from '../../support/stage.ts';

const stage = await setStage();
const scenarios = scenariosOf(stage);
const { service } = stage;
const browser = openBrowser(service.url);

/** Each reader, the guide with which they begin, and the names of all their guides. */
const READERS = [
  ['apps', 'app-developer', /^(app-developer|clients|sandbox|parameters)$/],
  ['owners', 'wallet-owner', /^(wallet-owner|coding-agents)$/],
  ['operators', 'operator', /^(operator|provider)(-|$)/],
] as const;

/** The names of the guides that a page leads to, each once. */
function guidesOn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/href="\/guides\/([\w-]+)/g)].map(([, name = '']) => name))];
}

/** Without what a guide itself says and links. */
const aroundGuide = (text: string): string => text.replace(/<main>[^]*<\/main>/, '');

test('PG-08 the guides ask who the reader is, and show none before', async () => {
  const page = await browser.open('/guides');
  assertPage(page, 200, 'Guides', IN_CONSOLE);
  assert.deepEqual(
    guidesOn(page.text),
    READERS.map(([, first]) => first),
  );
  assert.doesNotMatch(page.text, /role="search"/);
});

for (const [reader, first, theirs] of READERS) {
  test(`PG-08 navigation and search show ${reader} only their own guides, and one link to others`, async () => {
    const around = guidesOn(aroundGuide((await browser.open(`/guides/${first}`)).text));
    if (reader !== 'owners') assert.ok(around.length >= 4, String(around));
    for (const name of [first, ...around]) {
      const { status, text } = await browser.open(`/guides/${name}`);
      assert.equal(status, 200, name);
      for (const other of guidesOn(aroundGuide(text))) assert.match(other, theirs, `${name} shows ${other}`);
      assert.equal(text.split('href="/guides"').length, 2, name);
    }
    const found = await browser.open(`/guides?for=${reader}&q=refund`);
    assertPage(found, 200, 'Search results', IN_CONSOLE);
    assert.ok(guidesOn(mainOf(found)).length > 0);
    for (const name of guidesOn(found.text)) assert.match(name, theirs);
  });
}

test('PG-08 everybody may read and search the guides without signing in', async () => {
  const guide = await browser.open('/guides/app-developer');
  assertPage(guide, 200, undefined, IN_CONSOLE);
  const [, chapter = ''] = /href="(\/guides\/app-developer\?chapter=webhooks)"/.exec(guide.text) ?? [];
  assert.match((await browser.open(chapter)).text, /<h1>Webhooks<\/h1>/);
  const found = await browser.open('/guides?for=apps&q=%3Cb%3E+webhook');
  assertPage(found, 200, 'Search results', IN_CONSOLE);
  assert.ok(!found.text.includes('<b>'));
  const keys = await browser.open('/guides?for=apps&q=idempotency+key');
  assert.match(keys.text, /href="\/guides\/app-developer\?chapter=/);
});

scenarios({ as: 'visitor', name: 'PG-08 no such guide', status: 404, page: 'No such guide', may: IN_CONSOLE }, [
  { request: 'GET /guides/none' },
  { request: 'GET /guides/app-developer?chapter=none' },
  { request: 'GET /guides/..%2f..%2fREADME' },
]);

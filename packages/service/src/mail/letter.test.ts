import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LETTER_STYLE, plainName, writeLetter } from '#mail/letter.ts';

const LONG = Array.from({ length: 40 }, (_none, index) => `word${index}`).join(' ');

test('CP-14 a mail reads alike as text and HTML', () => {
  const { subject, body, html } = writeLetter({
    sender: 'The operator',
    subject: 'Your code',
    parts: [{ text: LONG }, { copy: '123456' }, { link: 'https://purser.test/x?a=1&b=2', name: 'Go on' }],
  });
  assert.equal(subject, 'Your code');
  const lines = body.split('\n');
  assert.ok(lines.every((line) => line.length <= 76));
  assert.equal(lines.slice(0, lines.indexOf('')).join(' '), LONG);
  assert.ok(body.endsWith('\n\n    123456\n\nhttps://purser.test/x?a=1&b=2\n'));
  assert.ok(html.includes(`<p>${LONG}</p>\n<p class="copy">123456</p>\n`));
  assert.ok(html.includes('<p><a href="https://purser.test/x?a=1&#38;b=2">Go on</a></p>'));
});

test('CP-14 a mail loads nothing and has only its given links', () => {
  const evil = '"><img src=https://evil.test/pixel><script>alert(1)</script><style>@import "x"</style>\r\nbcc: x';
  const parts = [{ text: evil }, { copy: evil }, { link: 'https://purser.test/"><b>', name: evil }];
  const { subject, html } = writeLetter({ sender: evil, subject: evil, parts });
  assert.doesNotMatch(subject, /[\r\n]/);
  assert.equal(writeLetter({ sender: 'x', subject: 'x'.repeat(300), parts: [] }).subject.length, 200);
  const elements = [...html.matchAll(/<\/?([a-z!][a-z0-9]*)/g)].map(([, name]) => name);
  const known = new Set(['!doctype', 'html', 'head', 'meta', 'title', 'style', 'body', 'div', 'p', 'a']);
  assert.deepEqual(
    elements.filter((name = '') => !known.has(name)),
    [],
  );
  assert.deepEqual(
    [...html.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, link]) => link),
    ['https://purser.test/&#34;&#62;&#60;b&#62;'],
  );
  assert.doesNotMatch(LETTER_STYLE, /url\(|@import|@font-face|</);
  assert.equal(html.match(/<style>/g)?.length, 1);
});

test('ON-01 an app’s name cannot link or hide in a mail', () => {
  for (const [name, plain] of [
    ['Notes', 'Notes'],
    [`Anna's notes & more (new) - 2!`, `Anna's notes & more (new) - 2!`],
    ['Grüße 日本語 नमस्ते', 'Grüße 日本語 नमस्ते'],
    ['Win at https://evil.test/now', 'Win at https evil test now'],
    ['www.evil.test', 'www evil test'],
    ['me@evil.test', 'me evil test'],
    ['evil。test', 'evil test'],
    ['a\u202Eb\u200Bc\uFEFFd', 'a b c d'],
    ['one\r\n\r\n    999999\ntwo', 'one 999999 two'],
    ['...', ''],
    ['', ''],
  ] as const) {
    assert.equal(plainName(name), plain);
  }
});

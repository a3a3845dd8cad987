import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorTextOf, redacted, showErrorTexts, withErrorText } from '#providers/errors/redacted-text.ts';
import { UpstreamError } from '#providers/port/provider.ts';

const REQUEST = {
  model: 'm',
  messages: [{ role: 'user', content: 'My password is Tulpenzwiebel, my card 4111-1111. Invalid model? Bob said so.' }],
  tools: [{ type: 'function', function: { name: 'send_letter' } }],
};

const said = (message: string): string => redacted(JSON.stringify({ error: { message, code: 'bad_thing' } }), REQUEST);

test('ER-03 a shown error has no word of the request', () => {
  assert.equal(
    said('Invalid model: the prompt is not supported.'),
    'bad_thing invalid model: the prompt is not supported.',
  );
  assert.equal(said('Blocked: "my PASSWORD is tulpenZWIEBEL"'), 'bad_thing blocked: "… … is …"');
  assert.equal(said('zwiebel and 4111 of bob'), 'bad_thing … and … of …');
  assert.equal(said('tool send_letter'), 'bad_thing tool …_…');
});

test('ER-03 a shown error has no key, number or address', () => {
  for (const secret of [
    'sk-proj-abcdefghijklmnop1234',
    'req_011CSHoEeqs5C35K2UUqR7Fy',
    '123456789',
    'a@b.test',
    'x'.repeat(30),
  ]) {
    assert.match(said(`For ${secret}: no.`), /^bad_thing for \[…\]:? no\.$/);
  }
});

test('ER-03 a shown error has at most 500 plain characters', () => {
  assert.ok(said('word '.repeat(1_000)).length <= 500);
  assert.equal(redacted('<h1>Bad Gateway</h1>', REQUEST), '<h1>bad gateway</h1>');
});

test('ER-03 no error is shown unless requested', () => {
  const error = new UpstreamError('outage', 'The provider failed.');
  assert.equal(errorTextOf(withErrorText(error, 'Down.', REQUEST)), undefined);
  showErrorTexts(true);
  assert.equal(errorTextOf(withErrorText(error, 'Down.', REQUEST)), 'down.');
  showErrorTexts(false);
  assert.doesNotMatch(JSON.stringify(error) + String(error.stack), /down\./);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completionBody } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const { upstream, service, app, callAs } = await setStage({ model: { imageTokensMax: 1_000 } });
await service.fund(app, 'u', 100_000_000);

function callWithImage(url: string) {
  const parts = [{ type: 'image_url', image_url: { url } }];
  return callAs('u', { messages: [{ role: 'user', content: parts }] });
}

test('WA-07 the hold covers every byte sent to the provider', async () => {
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  upstream.script(({ rawBody }) => {
    const sent = { ...usage, prompt_tokens: rawBody.length, total_tokens: rawBody.length };
    return { body: completionBody({ model: 'large-upstream', content: 'Hi', usage: sent }) };
  });
  const numbers = Array.from({ length: 2_000 }, () => '1e20').join(',');
  const body =
    `{"model":"large","max_tokens":16,"messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function",` +
    `"function":{"name":"f","parameters":{"enum":[${numbers}]}}}]}`;
  const reply = await callAs('u', {}, { body });
  assert.equal(reply.status, 200, reply.text);
  const bytes = upstream.requests.at(-1)?.rawBody.length ?? 0;
  assert.ok(bytes > 2 * body.length, 'the request has grown');
  // A token for each byte sent, at one micro each plus a tenth as margin: charged in full, so the hold covered it.
  assert.equal(reply.headers.get('x-service-charge-micros'), String(Math.ceil(bytes * 1.1)));
});

for (const url of [
  'data:application/pdf;base64,JVBERi0=',
  'data:video/mp4;base64,AAAA',
  'data:image/svg+xml,<svg/>',
  'data:text/plain,hello',
  'data:,hello',
  'file:///etc/passwd',
  'ftp://example.test/a.png',
  'javascript:1',
  '',
]) {
  test(`WA-07 an image part with ${JSON.stringify(url)} as its address is refused`, async () => {
    const before = upstream.requests.length;
    const reply = await callWithImage(url);
    assert.equal(reply.status, 400, reply.text);
    assert.equal(reply.error['param'], 'messages[0].content[0].image_url.url');
    assert.equal(upstream.requests.length, before);
  });
}

test('WA-07 an image address in another part is plain text', async () => {
  const hidden = { type: 'text', text: 'Hi', image_url: { url: `data:image/png;base64,${'A'.repeat(20_000)}` } };
  upstream.script(({ rawBody }) => {
    const usage = { prompt_tokens: rawBody.length, completion_tokens: 0, total_tokens: rawBody.length };
    return { body: completionBody({ model: 'large-upstream', content: '', usage }) };
  });
  const reply = await callAs('u', { messages: [{ role: 'user', content: [hidden] }], max_tokens: 16 });
  const bytes = upstream.requests.at(-1)?.rawBody.length ?? 0;
  assert.equal(reply.headers.get('x-service-charge-micros'), String(Math.ceil(bytes * 1.1)), reply.text);
});

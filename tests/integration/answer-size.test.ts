// Answers that are too large to be taken: they are not asked for, or cut and charged.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../support/client.ts';
import { payloadsOf } from '../support/open-stream.ts';
import { type Bill, billNamed } from '../support/receipts.ts';
import { completionBody, frame } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

const BALANCE = 10_000_000;
const { upstream, service, app, newUser, callAs } = await setStage({
  model: { timeoutMs: 60_000, maxOutputTokens: 32_768 },
});

/** One call of a fresh user. Afterwards the wallet holds nothing and the books agree. */
async function call(fields: object): Promise<{ readonly reply: Reply; readonly bill: Bill }> {
  const user = await newUser(BALANCE);
  const headers = { 'x-correlation-id': user };
  const reply = await callAs(user, { ...fields }, { headers });
  assert.equal(reply.status, 200, reply.text);
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
  return { reply, bill };
}

const LISTING = { logprobs: true, top_logprobs: 20, max_completion_tokens: 32_768 };

test('CC-24 a plain call’s limit rules out oversized answers', async () => {
  upstream.script({
    body: completionBody({ model: 'm', content: 'Hi.', usage: { prompt_tokens: 9, completion_tokens: 2 } }),
  });
  const sent = async (fields: object): Promise<readonly [number, string | null]> => {
    const { reply } = await call({ ...LISTING, ...fields });
    const asked = upstream.requests.at(-1)?.body as { max_completion_tokens: number };
    return [asked.max_completion_tokens, reply.headers.get('x-service-max-output-tokens')];
  };
  assert.deepEqual(await sent({ logprobs: false, top_logprobs: 0 }), [32_768, null]);
  const [one, told] = await sent({});
  assert.ok(one < 32_768 && told === String(one), `${one}, told ${told}`);
  const [eight] = await sent({ n: 8 });
  assert.ok(eight <= one / 8, `${eight} for each of eight, ${one} for one`);
});

test('CC-24 an oversized plain answer is cut, delivered and charged', async () => {
  const said = 'What had been generated. '.repeat(40);
  const entry = JSON.stringify({ token: ' a', logprob: -1, bytes: [32, 97], top_logprobs: [] });
  const head = `{"choices":[{"index":0,"message":{"role":"assistant","content":"${said}"},"logprobs":{"content":[`;
  const tail = `${entry}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":300}}`;
  const pieces = Array.from({ length: 17 }, () => `${entry},`.repeat(Math.ceil((1024 * 1024) / entry.length)));
  upstream.script({ body: [head, ...pieces, tail].map((write) => ({ write })) });
  const { reply, bill } = await call({ ...LISTING, max_completion_tokens: 4_000 });
  const [choice] = reply.body['choices'] as readonly Record<string, unknown>[];
  assert.deepEqual(choice?.['message'], { role: 'assistant', content: said, refusal: null });
  assert.deepEqual([choice['finish_reason'], choice['logprobs']], ['length', null]);
  assert.deepEqual([bill.outcome, bill.isEstimated], ['answered', true]);
  assert.ok(bill.tokens.completion >= said.length / 6 && bill.charged < bill.held, JSON.stringify(bill));
});

test('CC-24 more large answers than fit into memory all arrive', async () => {
  const listed = Array.from({ length: 500 }, () => ({
    token: 'x'.repeat(3_000),
    logprob: -1,
    bytes: [],
    top_logprobs: [],
  }));
  const message = { role: 'assistant', content: 'Hi.', refusal: null };
  const choice = { index: 0, message, logprobs: { content: listed, refusal: null }, finish_reason: 'stop' };
  const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
  const users = await Promise.all(Array.from({ length: 6 }, () => newUser(BALANCE)));
  upstream.script({ body: JSON.stringify({ choices: [{ ...choice, message: 'none' }], usage }) });
  for (const { status } of await Promise.all(
    users.map((user) => callAs(user, { ...LISTING, max_completion_tokens: 4_000 })),
  ))
    assert.equal(status, 502);
  upstream.script({
    body: JSON.stringify({ id: 'a', object: 'chat.completion', created: 1, choices: [choice], usage }),
  });
  for (const reply of await Promise.all(
    users.map((user) => callAs(user, { ...LISTING, max_completion_tokens: 4_000 })),
  )) {
    assert.equal(reply.status, 200, reply.text.slice(0, 500));
    assert.deepEqual(reply.body['choices'], [choice]);
  }
  assert.deepEqual(await service.check(), []);
});

test('CC-24 a stream ends before an oversized chunk', async () => {
  const delta = { role: 'assistant', content: 'What had been generated.' };
  const said = { write: frame({ choices: [{ index: 0, delta, finish_reason: null }] }) };
  const huge = `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(2 * 1024 * 1024)}`;
  upstream.script({ body: [said, { write: huge }, { hang: true }] });
  const { reply, bill } = await call({ stream: true });
  const payloads = payloadsOf(reply.text) as { choices?: { finish_reason: string | null }[] }[];
  assert.deepEqual(
    payloads.at(-2)?.choices?.map(({ finish_reason: reason }) => reason),
    ['length'],
  );
  assert.deepEqual([bill.outcome, bill.isEstimated, bill.isClamped], ['answered', true, false]);
  assert.ok(bill.charged > 0 && bill.charged < bill.held, JSON.stringify(bill));
});

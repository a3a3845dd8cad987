// Deltas that are longer than some clients read a line, and what a caller gets of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../support/catalogue.ts';
import { openStream } from '../support/open-stream.ts';
import { frame } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const LINE_BYTES_MAX = 32 * 1024;
const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 };
const TEXT = `Größe "\\ \n🐟${'東京 and "more" 🐟\n'.repeat(5_000)}`;

const { upstream, service, app, newUser } = await setStage({ model: { maxOutputTokens: 1_000_000 } });

type Delta = Record<string, unknown>;

const call = (text: string, more: object = {}) => ({ index: 0, function: { arguments: text, ...more } });
const named = { id: 'a', type: 'function', ...call('', { name: 'look' }) };

function of(delta: Delta): string {
  return frame({ choices: [{ index: 0, delta, finish_reason: null }] });
}

/** Ways to say a text of 150 KB, and how a client reads it. */
const WAYS: Readonly<Record<string, readonly [delta: Delta, read: (delta: Delta) => string | undefined]>> = {
  content: [{ content: TEXT }, ({ content }) => content as string],
  reasoning: [{ reasoning_content: TEXT }, ({ reasoning_content: text }) => text as string],
  arguments: [
    { tool_calls: [call(JSON.stringify({ TEXT }))] },
    ({ tool_calls: calls }) => (calls as ReturnType<typeof call>[] | undefined)?.[0]?.function.arguments,
  ],
};

for (const [way, [delta, read]] of Object.entries(WAYS)) {
  test(`CC-01 CC-12 long ${way} come in lines of 32 KB at most`, async () => {
    const user = await newUser(BALANCE);
    const first = way === 'arguments' ? { tool_calls: [named] } : { content: '' };
    const short = { ...delta, ...('content' in delta && { content: 'short' }) };
    // The second chunk of a kind follows the template of the first and is not parsed.
    const body = [of({ role: 'assistant', ...first }), of(short), of(delta)].join('');
    const end = frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE }) + frame('[DONE]');
    upstream.script({ body: [{ write: body }, { write: end }] });
    const stream = await openStream(
      { url: service.url, key: app.liveKey, user },
      { stream_options: { include_usage: true } },
    );
    const text = await stream.whole();
    const lines = text.split('\n');
    assert.ok(lines.every((line) => Buffer.byteLength(line) <= LINE_BYTES_MAX));
    const chunks = lines.filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)) as Chunk);
    const deltas = chunks.flatMap(({ choices }) => choices);
    const said = deltas.map((choice) => read(choice.delta) ?? '').join('');
    assert.equal(said, (read(short) ?? '') + (read(delta) ?? ''));
    assert.ok(deltas.every(({ index }) => index === 0));
    assert.equal(deltas.filter(({ finish_reason: reason }) => reason !== null).length, 1);
    assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
    assert.equal(chunks.filter(({ usage }) => usage !== null).length, 1);
    const { balance } = await service.wallet(app, user);
    assert.equal(balance, BALANCE - chargeFor({ prompt: 30, completion: 20 }));
  });
}

/** What has no pieces: a client would take two pictures for one, or half a citation for a whole one. */
const PICTURE = { type: 'image_url', image_url: { url: `data:image/png;base64,${'iVBORw0KGgoA'.repeat(9_000)}` } };
const CITATION = { type: 'url_citation', url_citation: { url: 'https://e.example/', content: 'x'.repeat(70_000) } };
const SEAL = { type: 'reasoning.encrypted', index: 0, data: 'c2VhbA=='.repeat(6_000) };

test('CC-01 a longer picture, citation or seal comes whole, alone in its line', async () => {
  const user = await newUser(BALANCE);
  const delta = { content: TEXT, images: [PICTURE], annotations: [CITATION, CITATION], reasoning_details: [SEAL] };
  const end = frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE }) + frame('[DONE]');
  upstream.script({ body: [{ write: of({ role: 'assistant', ...delta }) + end }] });
  const text = await (await openStream({ url: service.url, key: app.liveKey, user }, {})).whole();
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'));
  const long = lines.filter((line) => Buffer.byteLength(line) > LINE_BYTES_MAX);
  const alone = long.map((line) => (JSON.parse(line.slice(6)) as Chunk).choices.map((choice) => choice.delta));
  const [cited, seal] = [{ annotations: [CITATION] }, { reasoning_details: [SEAL] }];
  assert.deepEqual(alone, [[{ images: [PICTURE] }], [cited], [cited], [seal]]);
  const deltas = lines.flatMap((line) => (JSON.parse(line.slice(6)) as Chunk).choices);
  assert.equal(deltas.map((choice) => choice.delta['content'] as string | undefined).join(''), TEXT);
  const { balance } = await service.wallet(app, user);
  assert.equal(balance, BALANCE - chargeFor({ prompt: 30, completion: 20 }));
});

interface Chunk {
  readonly id: string;
  readonly choices: readonly { index: number; delta: Delta; finish_reason: string | null }[];
  readonly usage: unknown;
}

// What is charged for answers that hold more than text, or whose usage comes early. A token costs 1 micro, cached 0.1, as an image 2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MICRO_A_TOKEN } from '../support/catalogue.ts';
import { hasLeft } from '../support/callers-gone.ts';
import { openChat } from '../support/open-chat.ts';
import { type Bill, billNamed } from '../support/receipts.ts';
import { frame, type UpstreamStep } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

const BALANCE = 10_000_000;

type Payload = Readonly<Record<string, unknown>>;

const { upstream, service, app, newUser, callAs } = await setStage({
  checksBooks: true,
  catalogue: (catalogue) => {
    const price = { ...MICRO_A_TOKEN, imageOutputMicrosPerMillion: 2_000_000 };
    const [large] = catalogue.models;
    const exact = { ...large, id: 'acme.exact-1', price, marginBasisPoints: 0, maxOutputTokens: 20_000 };
    const drained = { ...exact, id: 'acme.drained-1', onAbandon: 'drain' };
    return { ...catalogue, models: [...catalogue.models, exact, drained] };
  },
});

const HANG: UpstreamStep = { hang: true };
const DONE = frame('[DONE]');

function chunk(delta: unknown, more: Payload = {}, reason: string | null = null): string {
  return frame({
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason }],
    ...more,
  });
}

function usageAlone(usage: unknown): string {
  return frame({ id: 'c', object: 'chat.completion.chunk', choices: [], usage });
}

function usageOf(prompt: number, completion: number, details?: Payload): Payload {
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  return details === undefined ? usage : { ...usage, completion_tokens_details: details };
}

async function billOf(user: string): Promise<Bill> {
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
  return bill;
}

/** One call of a fresh user, read to its end. */
async function call(body: string | readonly UpstreamStep[], fields: Payload = {}) {
  const user = await newUser(BALANCE);
  upstream.script({ body });
  const reply = await callAs(user, { model: 'acme.exact-1', ...fields }, { headers: { 'x-correlation-id': user } });
  return { text: reply.text, bill: await billOf(user) };
}

const plain = (message: unknown, more: Payload = {}, fields: Payload = {}) =>
  call(JSON.stringify({ id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }], ...more }), fields);

const streamed = (frames: readonly string[], fields: Payload = {}) =>
  call([{ write: frames.join('') }], { stream: true, ...fields });

/** A stream whose caller leaves once they have read this. */
async function left(
  frames: readonly string[],
  until: string,
  { model = 'acme.exact-1', later = [HANG] } = {},
): Promise<Bill> {
  const user = await newUser(BALANCE);
  const { promise: gone, resolve: go } = Promise.withResolvers<void>();
  upstream.script({ body: [{ write: frames.join('') }, { waitFor: gone }, ...later] });
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hello there' }] });
  const chat = openChat({ url: service.url, key: app.liveKey, user, body, correlationId: user });
  await chat.read(until);
  chat.leave();
  await waitUntil('the service has noticed', () => hasLeft(user));
  go();
  return billOf(user);
}

const PICTURE = (kilobytes: number) => ({
  type: 'image_url',
  index: 0,
  image_url: { url: `data:image/png;base64,${'iVBORw0KGgoA'.repeat(Math.ceil((kilobytes * 1_024) / 12))}` },
});
const CITATIONS = Array.from({ length: 10 }, (_, place) => ({
  type: 'url_citation',
  url_citation: {
    url: `https://e.example/${place}`,
    title: 'A title',
    content: 'Text of the page that was found. '.repeat(120),
  },
}));
const SEAL = 'c2VhbGVk'.repeat(8_000);
const SEALED = [{ type: 'reasoning.encrypted', index: 0, format: 'f-1', data: SEAL }];
const SIGNED = {
  index: 0,
  id: 'a',
  type: 'function',
  function: { name: 'look', arguments: '{}' },
  extra_content: { google: { thought_signature: SEAL } },
};
const OF_PICTURE = usageOf(10, 1_300, { image_tokens: 1_290 });

/** What an answer holds beside its text, with its usage, the limit of the call, and what it is charged. */
const BESIDE_TEXT: readonly (readonly [what: string, said: Payload, usage: Payload, limit: number, charge: number])[] =
  [
    ['an image of 400 KB', { images: [PICTURE(400)] }, OF_PICTURE, 2_000, 2_600],
    ['an image of 1.5 MB', { images: [PICTURE(1_500)] }, OF_PICTURE, 2_000, 2_600],
    ['an image among parts', { content: [{ type: 'text', text: 'Here' }, PICTURE(400)] }, OF_PICTURE, 2_000, 2_600],
    [
      'a long text before an image',
      { content: 'x'.repeat(20_000), images: [PICTURE(1_500)] },
      OF_PICTURE,
      2_000,
      2_600,
    ],
    ['an image of 400 KB in a text', { content: `![a](${PICTURE(400).image_url.url}) b` }, OF_PICTURE, 2_000, 2_600],
    ['an image of 1.5 MB in a text', { content: `![a](${PICTURE(1_500).image_url.url}) b` }, OF_PICTURE, 2_000, 2_600],
    ['ten citations of 4 KB', { annotations: CITATIONS }, usageOf(10, 5), 100, 15],
    ['sealed reasoning of 64 KB', { reasoning_details: SEALED }, usageOf(10, 90), 100, 100],
    ['a signed tool call', { tool_calls: [SIGNED] }, usageOf(10, 5), 100, 15],
    ['speech', { audio: { id: 'a', data: SEAL, transcript: 'Hello' } }, usageOf(10, 5), 100, 15],
  ];

for (const [what, said, usage, limit, charge] of BESIDE_TEXT) {
  test(`WA-07 CC-23 ${what} is charged by its usage and delivered whole`, async () => {
    const asked = { max_completion_tokens: limit };
    const whole = await plain({ role: 'assistant', content: 'Here', ...said }, { usage }, asked);
    const frames = [
      chunk({ role: 'assistant', content: 'Here' }),
      chunk(said),
      chunk({}, {}, 'stop'),
      usageAlone(usage),
    ];
    const stream = await streamed([...frames, DONE], asked);
    for (const { text, bill } of [whole, stream]) {
      assert.deepEqual([bill.charged, bill.isEstimated, bill.isClamped], [charge, false, false]);
      const [first = {}] = (Object.values(said).flat() as Payload[]).slice(-1);
      for (const part of Object.values(first).filter((value) => typeof value === 'object'))
        assert.ok(text.includes(JSON.stringify(part)), text.slice(0, 500));
      assert.match(text, /"finish_reason":"stop"/);
      assert.ok(text.length > JSON.stringify(said).length, `${text.length}`);
    }
  });
}

const WORDS = ' of an answer that is somewhat longer than others of its kind.';
const TEXT_CHUNKS = 10;

/** Ten chunks of text with this usage on each, and another on the first. */
function counting(each: unknown, first: unknown): readonly string[] {
  const rest = Array.from({ length: TEXT_CHUNKS }, (_, place) => {
    return chunk({ content: `${WORDS}${place === TEXT_CHUNKS - 1 ? ' END' : ''}` }, { usage: each });
  });
  return [chunk({ role: 'assistant', content: 'Some words' }, { usage: first }), ...rest];
}

/** The same text without any usage. */
async function counted(): Promise<Bill['tokens']> {
  return (await left(counting(undefined, undefined), ' END')).tokens;
}

/** Usage that says nothing of the whole output. `prompt`: what is charged for it, if it is not our own count. */
const EARLY: readonly (readonly [what: string, each: unknown, first: unknown, prompt?: number])[] = [
  ['on the first chunk', undefined, usageOf(10, 1), 10],
  ['of the prompt alone', undefined, { prompt_tokens: 10 }, 10],
  ['of a prompt and no output', undefined, usageOf(10, 0), 10],
  ['of zeros on every chunk', usageOf(0, 0), usageOf(0, 0)],
  ['of a prompt on every chunk', usageOf(10, 0), usageOf(10, 0), 10],
  ['of one token on every chunk', usageOf(10, 1), usageOf(10, 1), 10],
];

for (const [what, each, first, prompt] of EARLY) {
  test(`CC-11 a stream with usage ${what} is charged by our own count`, async () => {
    const control = await counted();
    const frames = counting(each, first);
    const flood = Array.from({ length: 17 }, () => ({ write: chunk({ content: 'x'.repeat(65_536) }) }));
    const huge = { write: `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(2 * 1024 * 1024)}` };
    const abandoned = await left(frames, ' END');
    const givenUp = await left(frames, ' END', { model: 'acme.drained-1', later: [...flood, HANG] });
    const cut = await call([{ write: frames.join('') }, huge, HANG], { stream: true });
    assert.deepEqual([abandoned.outcome, givenUp.outcome, cut.bill.outcome], ['abandoned', 'abandoned', 'answered']);
    for (const bill of [abandoned, cut.bill]) {
      assert.deepEqual([bill.isEstimated, bill.tokens.completion], [true, control.completion]);
      assert.equal(bill.charged, bill.tokens.prompt + bill.tokens.completion);
    }
    assert.equal(abandoned.tokens.prompt, prompt ?? control.prompt);
    assert.ok(givenUp.isEstimated && givenUp.tokens.completion > 10_000, JSON.stringify(givenUp));
  });
}

test('CC-11 a whole stream with early usage alone is charged by our own count', async () => {
  const control = await counted();
  for (const [, each, first, prompt] of EARLY) {
    for (const end of [[chunk({}, {}, 'stop'), DONE], [chunk({}, {}, 'stop')], [DONE]]) {
      const { bill } = await streamed([...counting(each, first), ...end]);
      const { outcome, isEstimated, tokens } = bill;
      assert.ok(tokens.prompt > 0);
      assert.deepEqual(
        [outcome, isEstimated, tokens.prompt, tokens.completion],
        ['answered', true, prompt ?? tokens.prompt, control.completion],
      );
    }
  }
});

test('CC-11 a count that runs along is charged as far as it came', async () => {
  const running = Array.from({ length: 8 }, (_, place) =>
    chunk({ content: `${WORDS} ${place}.` }, { usage: usageOf(10, 9 + place) }),
  );
  const exact = await left(running, ' 7.');
  assert.deepEqual([exact.charged, exact.isEstimated], [26, false]);
  const more = await left([...running, chunk({ content: `${WORDS} END` })], ' END');
  assert.equal(more.isEstimated, true);
  assert.ok(more.charged > 26 && more.charged < 26 + 20, `${more.charged}`);
});

test('CC-11 an early picture is not free for a caller who leaves', async () => {
  const bill = await left(
    [chunk({ role: 'assistant', content: 'Here' }), chunk({ images: [PICTURE(100)] }), chunk({ content: ' END' })],
    ' END',
  );
  assert.ok(bill.isEstimated && bill.charged >= 2 * 1_290 && bill.charged < bill.held, JSON.stringify(bill));
});

const THOUGHT = 'The user greets me, so a greeting is a fitting answer to that. '.repeat(20);
const BLOCK = { type: 'reasoning.text', index: 0, format: 'f-1', text: THOUGHT };

/** Messages without usage, each with what it counts as. */
const COUNTED: readonly (readonly [what: string, said: Payload, as: Payload])[] = [
  ['reasoning under two names', { reasoning: THOUGHT, reasoning_content: THOUGHT }, { content: THOUGHT }],
  [
    'reasoning in three places',
    { reasoning: THOUGHT, reasoning_content: THOUGHT, reasoning_details: [BLOCK] },
    { content: THOUGHT },
  ],
  ['reasoning in blocks alone', { reasoning: '', reasoning_details: [BLOCK] }, { content: THOUGHT }],
  ['reasoning that nobody gets', { content: 'Hi', thinking_blocks: [{ thinking: THOUGHT }] }, { content: 'Hi' }],
  ['a tool call with a signature', { tool_calls: [SIGNED] }, { content: 'look{}' }],
  ['sealed reasoning', { content: 'Hi', reasoning_details: SEALED }, { content: 'Hi' }],
  [
    'a picture in a text',
    { content: `Hi ![a](${PICTURE(4).image_url.url})` },
    { content: 'Hi ![a]()', images: [PICTURE(4)] },
  ],
  ['citations', { content: 'Hi', annotations: CITATIONS }, { content: 'Hi' }],
  ['a call under both words', { tool_calls: [SIGNED], function_call: SIGNED.function }, { content: 'look{}' }],
  ['fields that no caller gets', { content: 'Hi', provider_specific_fields: { raw: THOUGHT } }, { content: 'Hi' }],
];

test('CC-23 our own count has each text once, and nothing that is none', async () => {
  for (const [what, said, as] of COUNTED) {
    const [whole, right] = [await plain(said), await plain(as)];
    assert.equal(whole.bill.charged, right.bill.charged, `plain: ${what}`);
    const stream = await streamed([chunk(said), chunk({}, {}, 'stop'), DONE]);
    assert.equal(stream.bill.charged, right.bill.charged, `streamed: ${what}`);
    const pieces = (said['content'] as string | undefined)?.match(/.{1,5}/g) ?? [];
    const small = [chunk({ ...said, content: '' }), ...pieces.map((content) => chunk({ content }))];
    const cut = await streamed([...small, chunk({}, {}, 'stop'), DONE]);
    assert.equal(cut.bill.charged, right.bill.charged, `in small pieces: ${what}`);
    const abandoned = await left([chunk(said), chunk({ content: 'END' })], 'END');
    const more = abandoned.tokens.completion - right.bill.tokens.completion;
    assert.ok(more >= 0 && more <= 3, `left: ${what}: ${more}`); // The three letters of the end.
  }
});

test('CC-23 reasoning that a later chunk repeats in another place counts once', async () => {
  const right = await plain({ content: `${THOUGHT}Hi` });
  const said = chunk({ content: 'Hi' });
  const role = chunk({ role: 'assistant', content: '' });
  const pieces = THOUGHT.match(/.{1,30}/g) ?? [];
  const [first = [], again = []] = ['reasoning', 'reasoning_content'].map((name) =>
    pieces.map((text) => chunk({ [name]: text })),
  );
  for (const frames of [
    [role, ...first, ...again, said],
    [role, ...pieces.flatMap((text) => [chunk({ reasoning: text }), chunk({ reasoning_content: text })]), said],
    [chunk({ reasoning: THOUGHT }), said, chunk({ reasoning_details: [BLOCK] })],
    [chunk({ reasoning_content: THOUGHT }), chunk({ reasoning: THOUGHT }), said],
    [chunk({ reasoning: THOUGHT, reasoning_details: [BLOCK] }), chunk({ reasoning_content: THOUGHT }), said],
  ]) {
    const stream = await streamed([...frames, chunk({}, {}, 'stop'), DONE]);
    assert.ok(Math.abs(stream.bill.charged - right.bill.charged) <= 2, `${stream.bill.charged}`);
  }
});

test('CC-23 an example of a picture is text, and one without its count has its price', async () => {
  const example = await plain({ content: 'Write <img src="data:image/png;base64,iVBORw0KGgo..."> there.' });
  assert.ok(example.bill.charged < 200);
  const { bill } = await plain({ content: 'Hi', images: [PICTURE(4)] }, { usage: { prompt_tokens: 10 } });
  assert.ok(bill.isEstimated && bill.charged >= 10 + 2 * 1_290);
});

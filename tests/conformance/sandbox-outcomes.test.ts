import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { OUTCOME_MODELS } from '../../packages/service/src/sandbox/answers/outcomes.ts';
import { chargeFor } from '../support/catalogue.ts';
import { chat, type Reply, send } from '../support/client.ts';
import { openStream } from '../support/open-stream.ts';
import { assertRefusal } from '../support/refusal.ts';
import { readSandboxWallet } from '../support/sandbox-wallet.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The table of `docs/SANDBOX.md`, row by row over real HTTP and sped up: 1 s here stands for 10 s there. */

const STATUS_MS = 1_000;
const stage = await setStage({
  pace: { statusMsMax: STATUS_MS, keepAliveMs: 60_000, heldUpMsMax: 10_000 },
  app: { maxStreamsPerUser: 1 },
  // The models before the one whose price counts: one that is free, and an expensive one that the app may not call.
  catalogue: ({ models: [large], ...rest }) => {
    const free = { ...large, id: 'aaa.free-1', price: undefined, free: true };
    const price = { inputMicrosPerMillion: 9_000_000, outputMicrosPerMillion: 9_000_000 };
    const dear = { ...large, id: 'aaa.secret-1', resale: 'reserved', price };
    return { ...rest, models: [free, dear, { ...large, parameters: [] }], aliases: { large: 'acme.large-1' } };
  },
});
const { service, app, upstream } = stage;
const GRANT = 5_000_000;

interface Row {
  readonly model: string;
  readonly plain: string;
  readonly streamed: string;
  readonly waits: string;
  readonly charge: string;
}

function readTable(): readonly Row[] {
  const text = readFileSync(new URL('../../docs/SANDBOX.md', import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `sandbox/'))
    .map((line) => {
      const [, model = '', plain = '', streamed = '', waits = '', charge = ''] = line
        .split('|')
        .map((cell) => cell.trim());
      return { model: model.replaceAll('`', ''), plain, streamed, waits, charge };
    });
}

const TABLE = readTable();

/** The answer in the words of the table. */
function inWords({ status, error, body }: Reply): string {
  if (status !== 200) return `${status} \`${String(error['code'])}\``;
  const [choice] = body['choices'] as { finish_reason: string }[];
  return `200, \`${choice?.finish_reason}\``;
}

interface Chunk {
  readonly error?: { readonly code: string };
  readonly choices?: readonly { readonly delta: object; readonly finish_reason: string | null }[];
  readonly usage?: Readonly<Record<string, number>>;
}

function readStream({ text }: Reply) {
  const words: string[] = ['200'];
  const frames = text.split('\n\n').filter((frame) => frame !== '');
  const chunks = frames
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice('data: '.length)) as Chunk);
  const failed = chunks.at(-1)?.error;
  const finish = chunks.map(({ choices }) => choices?.[0]?.finish_reason).find((reason) => typeof reason === 'string');
  if (frames[0]?.startsWith(':') === true) words.push('a comment');
  if (chunks.some(({ choices }) => choices?.[0]?.finish_reason === null)) words.push('a beginning');
  if (failed !== undefined) words.push(`an error frame \`${failed.code}\``);
  if (finish !== undefined) words.push(`\`${finish}\``);
  assert.equal(frames.at(-1) === 'data: [DONE]', failed === undefined, text);
  return { words: words.join(', '), chunks, usage: chunks.at(-1)?.usage };
}

const ask = (model: string, user: string, fields: Readonly<Record<string, unknown>> = {}) =>
  chat({ url: service.url, key: app.testKey, user }, { model, ...fields });
const STREAMED = { stream: true, stream_options: { include_usage: true } };

async function spentBy(user: string): Promise<number> {
  const wallet = await readSandboxWallet(service.database, app, user);
  assert.deepEqual([wallet?.held, wallet?.openStreams], [0, 0], 'nothing is held');
  return GRANT - (wallet?.balance ?? 0);
}

function priceOf(usage: Readonly<Record<string, number>> | undefined): number {
  const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = usage ?? {};
  assert.ok(completion > 0);
  return chargeFor({ prompt, completion });
}

test('SB-02 docs/SANDBOX.md lists every outcome once', () => {
  assert.deepEqual(
    TABLE.map(({ model }) => model),
    OUTCOME_MODELS,
  );
});

for (const row of TABLE) {
  test(`SB-02 ${row.model}, plain: ${row.plain}, charge: ${row.charge}`, async () => {
    const user = `plain-${row.model}`;
    const since = performance.now();
    const reply = await ask(row.model, user);
    const waitedMs = performance.now() - since;
    assert.equal(inWords(reply), row.plain, reply.text);
    assert.equal(reply.headers.get('x-service-mode'), 'sandbox');
    const waits = (Number(row.waits.split(' ')[0]) / 10) * STATUS_MS;
    assert.ok(waitedMs >= waits - 5, `${waitedMs} ms`);
    if (row.charge === 'free') {
      assertRefusal(reply, { code: row.plain.slice(5, -1) as 'UPSTREAM_THROTTLED', param: null, hasLink: false });
      assert.equal(await spentBy(user), 0);
      return;
    }
    assert.equal(reply.body['model'], row.model);
    const usage = reply.body['usage'] as Record<string, number> | undefined;
    assert.equal(usage === undefined, row.charge !== 'usage', 'without a usage report, our own count is used');
    if (usage !== undefined) assert.equal(Number(reply.headers.get('x-service-charge-micros')), priceOf(usage));
    assert.equal(await spentBy(user), Number(reply.headers.get('x-service-charge-micros')));
    assert.ok((await spentBy(user)) > 0);
  });

  test(`SB-02 ${row.model}, streamed: ${row.streamed}`, async () => {
    const user = `streamed-${row.model}`;
    const reply = await ask(row.model, user, STREAMED);
    assert.equal(reply.headers.get('x-service-mode'), 'sandbox');
    if (reply.status === 200) {
      const { words, usage } = readStream(reply);
      assert.equal(words, row.streamed, reply.text);
      assert.equal(await spentBy(user), row.charge === 'free' ? 0 : priceOf(usage));
      return;
    }
    assert.equal(inWords(reply), row.streamed);
    assert.equal(await spentBy(user), 0);
  });
}

/** An error without its id and the model that it names. */
function withoutModel({ error }: Reply, model: string) {
  return { ...error, correlationId: '', message: String(error['message']).replace(model, '') };
}

test('SB-02 outcomes are unknown models to a live key', async () => {
  const user = await stage.newUser(1_000_000);
  const live = { url: service.url, key: app.liveKey, user };
  const unknown = await chat(live, { model: 'sandbox/no-such' });
  assertRefusal(unknown, { code: 'BAD_REQUEST', param: 'model', hasLink: false });
  for (const model of OUTCOME_MODELS) {
    const reply = await chat(live, { model });
    assert.equal(reply.status, 400);
    assert.deepEqual(withoutModel(reply, model), withoutModel(unknown, 'sandbox/no-such'));
    for (const key of [app.liveKey, app.testKey]) {
      assert.ok(!(await send('/v1/models', { url: service.url, key })).text.includes('sandbox/'));
      assert.equal((await send(`/v1/models/${model}`, { url: service.url, key })).status, 404);
    }
  }
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
  for (const model of ['sandbox/no-such', 'sandbox/', 'sandbox/toString', 'sandbox/__proto__', 'throttled']) {
    assertRefusal(await ask(model, 'any'), { code: 'BAD_REQUEST', param: 'model' }, model);
  }
});

test('SB-02 the caller’s limit cuts an outcome like an answer', async () => {
  for (const model of ['sandbox/long', 'sandbox/tool-call']) {
    const reply = await ask(model, 'cut', { max_tokens: 2 });
    assert.equal(inWords(reply), '200, `length`');
    assert.equal((reply.body['usage'] as Record<string, number>)['completion_tokens'], 2);
  }
});

test('SB-02 the tool-call outcome calls the first tool on offer', async () => {
  const tools = ['find', 'lose'].map((name) => ({ type: 'function', function: { name } }));
  const plain = await ask('sandbox/tool-call', 'tools', { tools, tool_choice: 'required' });
  interface Call {
    readonly id: string;
    readonly function: { readonly name?: string; readonly arguments: string };
  }
  const [choice] = plain.body['choices'] as { message: { content: unknown; tool_calls: Call[] } }[];
  const [call] = choice?.message.tool_calls ?? [];
  assert.equal(choice?.message.content, null);
  assert.deepEqual(call?.function, { name: 'find', arguments: '{"sandbox":true}' });
  const { chunks } = readStream(await ask('sandbox/tool-call', 'tools', { ...STREAMED, tools }));
  const parts = chunks.flatMap(({ choices }) => (choices?.[0]?.delta as { tool_calls?: Call[] })?.tool_calls ?? []);
  assert.deepEqual(
    parts.map((part) => part.function.name),
    ['find', undefined, undefined, undefined],
  );
  assert.equal(parts.map((part) => part.function.arguments).join(''), '{"sandbox":true}');
});

test('SB-02 a model’s refusal has its own field', async () => {
  const plain = await ask('sandbox/refusal', 'refused');
  const [choice] = plain.body['choices'] as { message: { content: unknown; refusal: string } }[];
  assert.equal(choice?.message.content, null);
  const { chunks } = readStream(await ask('sandbox/refusal', 'refused', STREAMED));
  const said = chunks.map(({ choices }) => (choices?.[0]?.delta as { refusal?: string | null })?.refusal ?? '');
  assert.equal(said.join(''), choice.message.refusal);
});

test('CC-11 SB-10 a long stream holds its slot until abandoned', async () => {
  const user = 'leaver';
  const stream = await openStream({ url: service.url, key: app.testKey, user }, { model: 'sandbox/long' });
  await stream.until('" 7"');
  const second = await ask('sandbox/long', user, { stream: true });
  assertRefusal(second, { code: 'CONCURRENT_STREAM_LIMIT', param: null, hasLink: false });
  const live = await stage.newUser(1_000_000);
  upstream.script({ status: 500, body: '' });
  const other = await chat({ url: service.url, key: app.liveKey, user: live }, { stream: true });
  assert.equal(other.status, 502, 'the slots of live streams are separate');
  stream.leave();
  await waitUntil('the stream is settled', async () => {
    return (await readSandboxWallet(service.database, app, user))?.openStreams === 0;
  });
  const spent = await spentBy(user);
  assert.ok(spent > 0 && spent < chargeFor({ prompt: 0, completion: 300 }), String(spent));
});

test('CC-15 each repeat of a rejected request is judged anew', async () => {
  const before = await readCalls();
  for (let count = 0; count < 3; count += 1) {
    const reply = await ask('sandbox/rejected', 'rejected-thrice', { seed: 7 });
    assertRefusal(reply, { code: 'UPSTREAM_PROVIDER_ERROR', param: null, hasLink: false });
  }
  assert.equal((await readCalls()) - before, 3);
  assert.equal(await spentBy('rejected-thrice'), 0);
});

/** How many sandbox calls have failed so far. */
async function readCalls(): Promise<number> {
  const { text } = await send('/metrics', { url: service.url });
  return Number(/purser_calls_total\{mode="sandbox",outcome="failed"\} (\d+)/.exec(text)?.[1] ?? 0);
}

test('SB-03 no sandbox call reaches the provider or leaves a receipt', async () => {
  assert.equal(upstream.requests.length, 1, 'the one live call');
  const { rows } = await service.database.owner.query('select count(*)::int as receipts from usage.calls');
  assert.deepEqual(rows, [{ receipts: 1 }]);
});

test('SB-06 every refusal for money comes before an outcome', async () => {
  const { owner } = service.database;
  for (const [assignment, code] of [
    ['balance_micros = 0', 'PAYMENT_REQUIRED'],
    ['cap_micros = 1', 'APP_SPEND_CAP_EXCEEDED'],
    ['is_suspended = true', 'WALLET_SUSPENDED'],
  ] as const) {
    const user = `money-${code}`;
    await ask('sandbox/error', user);
    await owner.query(`update sandbox.wallets set ${assignment} where user_id = $1`, [user]);
    for (const model of OUTCOME_MODELS) assertRefusal(await ask(model, user), { code }, model);
  }
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { APIError } from 'openai';
import { chat } from '../support/client.ts';
import { assertRefusal } from '../support/refusal.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { RecordedRequest } from '../support/scripted-upstream.ts';
import { asksOf, type Said } from './providers/vendors/vendor-asks.ts';
import { setVendorStage } from './providers/vendors/vendor-stage.ts';
import { anthropic } from './providers/vendors/anthropic.ts';
import { azure, startAzureByToken } from './providers/vendors/azure.ts';
import { signatureFault } from './providers/vendors/aws-signature.ts';
import { bedrock, BEDROCK_ACCOUNT } from './providers/vendors/bedrock.ts';
import { google, startVertex } from './providers/vendors/google.ts';
import { mistral, MISTRAL_THOUGHT } from './providers/vendors/mistral.ts';
import {
  ANSWER_SCHEMA,
  CANARY,
  PIXEL,
  SCHEMA_ANSWER,
  type Vendor,
  type VendorRequest,
  WEATHER,
  writerIn,
} from './providers/vendors/vendor.ts';

/** Every kind that speaks a vendor's own format, through the whole service with an unmodified client library. */

const directory = mkdtempSync(join(tmpdir(), 'purser-vendors-'));
const write = writerIn(directory);
const { vendor: vertex, close } = await startVertex(write);
const entra = await startAzureByToken(write);
const VENDORS = [anthropic, bedrock, google, vertex, azure, entra.vendor, mistral];
after(async () => {
  await close();
  entra.close();
  rmSync(directory, { recursive: true });
});
const stage = await setVendorStage(VENDORS);
const { client, modelOf, paid } = stage;
stage.service.keepSecret(CANARY);
const { plain, streamed, reasons } = asksOf(client);
const USER = { role: 'user' as const, content: 'Hello' };
const WAYS = { plain, streamed };
/** The reasons that every client knows, and the failure that a vendor's own word may be instead. */
const REASONS = /^(stop|length|tool_calls|content_filter|UPSTREAM_PROVIDER_ERROR)$/;
for (const vendor of VENDORS) {
  const model = modelOf(vendor, 'plain');
  for (const [way, ask] of Object.entries(WAYS)) {
    test(`MO-09 ${vendor.kind}, ${way}: a text, charged by the vendor’s usage`, async () => {
      const system = { role: 'system' as const, content: 'Be brief.' };
      const { message, reason } = await paid(vendor, () => ask(model, { messages: [system, USER], stop: ['END'] }));
      assert.match(message.content ?? '', /^Hello from (Claude|anthropic|Gemini|GPT|Mistral) 🐟$/u);
      assert.equal(reason, 'stop');
    });

    test(`MO-09 ${vendor.kind}, ${way}: parallel tool calls and their results work`, async () => {
      const asked = { messages: [USER], tools: [WEATHER] };
      const { message, reason, deltas } = await paid(vendor, () => ask(model, asked));
      assert.equal(reason, 'tool_calls');
      const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
      assert.deepEqual(
        calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
        [
          ['weather', { city: 'Bern' }],
          ['weather', { city: 'Zürich' }],
        ],
      );
      if (deltas !== undefined) {
        const least = vendor.hasWholeArguments === true ? 2 : 3;
        assert.ok(deltas.arguments >= least, 'arguments come in pieces, or each call in one');
      }
      const results = calls.map(({ id }, place) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: `${place} degrees`,
      }));
      const next = await paid(vendor, () => ask(model, { ...asked, messages: [USER, message, ...results] }));
      assert.equal(next.message.content, 'Results: 0 degrees, 1 degrees');
    });

    test(`MO-09 ${vendor.kind}, ${way}: an image as data`, async () => {
      const image = { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PIXEL}` } };
      const content = [{ type: 'text' as const, text: 'What is this?' }, image];
      const { message } = await paid(vendor, () => ask(model, { messages: [{ role: 'user', content }] }));
      assert.equal(message.content, 'I see 1 image');
    });

    test(`MO-09 ${vendor.kind}, ${way}: a JSON schema`, async () => {
      const format = { type: 'json_schema' as const, json_schema: { name: 'place', schema: ANSWER_SCHEMA } };
      const { message, reason } = await paid(vendor, () => ask(model, { messages: [USER], response_format: format }));
      assert.deepEqual([JSON.parse(message.content ?? ''), reason], [JSON.parse(SCHEMA_ANSWER), 'stop']);
    });
  }

  test(`CC-01 ${vendor.kind}: a caller gets no unknown reason to finish`, async () => {
    for (const word of ['brand_new', 'BRAND_NEW', 'stopped', 'None']) {
      const asked = { messages: [{ role: 'user' as const, content: `finish ${word}` }] };
      for (const told of await reasons(model, asked)) assert.match(told, REASONS);
    }
  });

  test(`ER-03 CC-09 CC-17 ${vendor.kind}: every failure has its code, with status 200 too`, async () => {
    for (const [word, type] of vendor.failures) {
      for (const ask of [plain, streamed]) {
        assert.equal(await failureOf(vendor, ask, word), type, word);
        stage.disguise(true);
        assert.equal(await failureOf(vendor, ask, word), type, `${word} with status 200`);
        stage.disguise(false);
      }
    }
  });

  test(`CC-11 ${vendor.kind}: a stream broken after its first byte is an error`, async () => {
    for (const [word, type] of vendor.lateFailures) {
      assert.equal(await failureOf(vendor, streamed, `${word} late`), type, word);
    }
  });

  test(`MO-09 CC-13 ${vendor.kind}: each parameter arrives in the vendor’s words`, async () => {
    for (const [fields, expected] of vendor.sent ?? []) {
      const body = { model, messages: [USER], ...fields };
      const reply = await chat({ url: stage.service.url, key: stage.app.liveKey, user: 'anna' }, body);
      assert.equal(reply.status, 200, `${JSON.stringify(fields)} ${reply.text}`);
      assertHolds(stage.requestsOf(vendor).at(-1)?.body, expected, JSON.stringify(fields));
    }
  });

  test(`MO-09 CC-03 ${vendor.kind}: what the kind has no word for is refused`, async () => {
    const before = stage.requestsOf(vendor).length;
    for (const [fields, param] of vendor.refused) {
      const body = { model, messages: [USER], ...fields };
      const reply = await chat({ url: stage.service.url, key: stage.app.liveKey, user: 'anna' }, body);
      assertRefusal(reply, { code: 'BAD_REQUEST', param }, JSON.stringify(fields));
      assert.ok(String(reply.error['message']).startsWith(`This model does not take \`${param}\`. `), reply.text);
    }
    assert.equal(stage.requestsOf(vendor).length, before);
  });
}

/** The value holds at least this, and of lists as many items. */
function assertHolds(value: unknown, expected: unknown, what: string): void {
  if (typeof expected !== 'object' || expected === null) return assert.equal(value, expected, what);
  if (Array.isArray(expected)) assert.equal((value as unknown[] | undefined)?.length, expected.length, what);
  for (const [name, part] of Object.entries(expected)) {
    assertHolds((value as Readonly<Record<string, unknown>> | undefined)?.[name], part, `${what} ${name}`);
  }
}

let asked = 0;
/** The `error.type` of a call that the vendor fails, or `throttled`. Each request is new, because a rejected one is remembered. */
async function failureOf(vendor: Vendor, ask: typeof plain, word: string): Promise<string> {
  const system = { role: 'system' as const, content: `Request ${(asked += 1)}` };
  const messages = [system, { role: 'user' as const, content: `fail ${word}` }];
  try {
    await paid(vendor, () => assert.rejects(ask(modelOf(vendor, 'plain'), { messages }), remember));
  } catch (fault) {
    throw new Error(`${word}: ${String(fault)}`, { cause: fault });
  }
  return seen;
}

let seen = '';
function remember(fault: unknown): boolean {
  if (!(fault instanceof APIError)) return false;
  assert.ok(!fault.message.includes(CANARY) && !JSON.stringify(fault.error).includes(CANARY));
  seen = fault.code === 'UPSTREAM_THROTTLED' ? 'throttled' : String(fault.type);
  return true;
}

const LOOK = [
  ['anthropic', anthropic, 'plain'],
  ['anthropic, by effort', anthropic, 'effort'],
  ['bedrock', bedrock, 'plain'],
] as const;

for (const [what, vendor, use] of LOOK) {
  for (const [way, ask] of Object.entries(WAYS)) {
    test(`MO-09 ${what}, ${way}: sealed thinking goes back unchanged before its calls`, async () => {
      const asking = { messages: [USER], tools: [WEATHER], reasoning_effort: 'low' as const };
      const { message } = await paid(vendor, () => ask(modelOf(vendor, use), asking));
      const { reasoning_content: shown, reasoning_details: details } = message as Thought;
      assert.match(shown ?? '', /^The user wants .* twice\.$/);
      assert.ok(details?.some(({ signature }) => signature !== undefined));
      // The vendor checks the seal and the order, and fails the call if either is wrong.
      const next = await paid(vendor, () =>
        ask(modelOf(vendor, use), { ...asking, messages: [USER, message, ...mildFor(message)] }),
      );
      assert.equal(next.message.content, 'Results: mild, mild');
    });
  }
}

/** What the tool says to each call. */
function mildFor({ tool_calls: calls = [] }: Said['message']) {
  return calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'mild' }));
}

interface Thought {
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly { readonly text?: string; readonly signature?: string }[];
}

for (const vendor of [anthropic, bedrock]) {
  test(`MO-09 ${vendor.kind}: cache writes are charged by their lifetime`, async () => {
    for (const ttl of [undefined, '1h']) {
      const mark = { cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) } };
      const system = { role: 'system' as const, content: [{ type: 'text' as const, text: 'A long text.', ...mark }] };
      for (const ask of [plain, streamed]) {
        await paid(vendor, () => ask(modelOf(vendor, 'plain'), { messages: [system, { ...USER, ...mark }] }));
      }
      const sent = JSON.stringify(stage.requestsOf(vendor).at(-1)?.body);
      assert.equal(sent.split(ttl === undefined ? /"cache_control"|"cachePoint"/ : /"ttl":"1h"/).length - 1, 2, sent);
    }
  });
}

for (const [way, ask] of Object.entries(WAYS)) {
  test(`MO-09 google, ${way}: a tool call’s signature goes back with it`, async () => {
    const asking = { messages: [USER], tools: [WEATHER] };
    const { message } = await paid(google, () => ask(modelOf(google, 'plain'), asking));
    const messages = [USER, message, ...mildFor(message)];
    const next = await paid(google, () => ask(modelOf(google, 'plain'), { ...asking, messages }));
    assert.equal(next.message.content, 'Results: mild, mild');
    // The vendor takes no signature but its own, and one word that stands for a lost one.
    assert.doesNotMatch(JSON.stringify(stage.requestsOf(google).at(-1)?.body), /skip_thought_signature_validator/);
  });

  test(`MO-09 mistral, ${way}: thoughts stay apart and go back`, async () => {
    const model = modelOf(mistral, 'thinking');
    const { message } = await paid(mistral, () => ask(model, { messages: [USER] }));
    assert.equal((message as Thought).reasoning_content, MISTRAL_THOUGHT);
    assert.equal(message.content, 'Hello from Mistral 🐟');
    await paid(mistral, () => ask(model, { messages: [USER, message, USER] }));
    const sent = JSON.stringify(stage.requestsOf(mistral).at(-1)?.body);
    assert.ok(sent.includes(`"thinking":[{"type":"text","text":"${MISTRAL_THOUGHT}"}]`), sent);
  });
}

test('MO-11 azure: one Entra token serves all calls until it ends', () => assert.ok(entra.tokens() <= 3)); // Two calls had it refused.

for (const use of ['nova', 'llama', 'mistral']) {
  test(`MO-09 bedrock: other vendors’ models use the same format: ${use}`, async () => {
    const model = modelOf(bedrock, use);
    const format = { type: 'json_schema' as const, json_schema: { name: 'place', schema: ANSWER_SCHEMA } };
    for (const ask of [plain, streamed]) {
      const { message, reason, deltas } = await paid(bedrock, () =>
        ask(model, { messages: [USER], response_format: format }),
      );
      assert.deepEqual([JSON.parse(message.content ?? ''), reason], [JSON.parse(SCHEMA_ANSWER), 'stop']);
      if (deltas !== undefined) assert.ok(deltas.texts > 2, 'the JSON comes in pieces');
      const asked = { messages: [USER], tools: [WEATHER] };
      const called = await paid(bedrock, () => ask(model, asked));
      const next = await paid(bedrock, () =>
        ask(model, { ...asked, messages: [USER, called.message, ...mildFor(called.message)] }),
      );
      assert.equal(next.message.content, 'Results: mild, mild');
    }
  });
}

for (const vendor of VENDORS) {
  test(`CC-11 ${vendor.kind}: an abandoned stream is charged by the vendor’s usage`, async () => {
    const gate = Promise.withResolvers<void>();
    stage.holdBack(gate.promise);
    await paid(vendor, async () => {
      const caller = new AbortController();
      const body = { model: modelOf(vendor, 'plain'), messages: [USER], stream: true as const };
      for await (const _chunk of await client.chat.completions.create(body, { signal: caller.signal })) caller.abort();
      gate.resolve();
      await waitUntil('the hold ends', async () => (await stage.service.wallet(stage.app, 'anna')).held === 0);
    });
  });
}

test('MO-11 Bedrock requests are signed for their host, path and body', () => {
  const request = stage.requestsOf(bedrock).findLast(({ rawBody }) => rawBody.length > 0);
  assert.ok(request !== undefined);
  assert.equal(signatureFault(request, BEDROCK_ACCOUNT), undefined);
  const changes = [
    { path: `${request.path}x` },
    { rawBody: Buffer.from(`${request.rawBody.toString('utf8')} `) },
    { headers: { ...request.headers, host: 'elsewhere.test' } },
  ];
  for (const change of changes) {
    assert.equal(signatureFault({ ...requestOf(request), ...change }, BEDROCK_ACCOUNT), 'InvalidSignatureException');
  }
});

function requestOf({ method, path, headers, rawBody, body }: RecordedRequest): VendorRequest {
  return { method, path, headers, rawBody, body };
}

test('MO-09 no library changes or omits part of a request', async () => {
  assert.equal(await stage.warnings(), 0);
});

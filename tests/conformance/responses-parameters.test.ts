import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Reply, send } from '../support/client.ts';
import type { ParameterRow } from '../support/parameter-table.ts';
import { assertRefusal } from '../support/refusal.ts';
import { RESPONSES_TABLE } from '../support/responses-parameter-table.ts';
import { completionBody, type NextScript, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

/** Each row of the table over real HTTP: what the provider receives of it, and that a refusal changes nothing. */

const stage = await setStage({
  environment: { GEMINI_KEY: 'k' },
  catalogue: ({ models: [large], providers, ...rest }) => {
    const few = { ...large, id: 'acme.few-1', providerModel: 'few-upstream', parameters: [] };
    const gemini = { ...large, id: 'acme.gemini-1', provider: 'gemini', providerModel: 'gemini-3-flash-preview' };
    const { baseUrl } = providers.upstream;
    return {
      ...rest,
      providers: { ...providers, gemini: { kind: 'google', baseUrl, apiKeyEnv: 'GEMINI_KEY' } },
      models: [large, few, gemini],
      aliases: { large: 'acme.large-1', few: 'acme.few-1', gemini: 'acme.gemini-1' },
    };
  },
});
const { upstream, service, app } = stage;
const user = await stage.newUser(100_000_000);

const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
const greet: NextScript = ({ body }) => {
  const isStream = (body as Fields)['stream'] === true;
  const facts = { model: 'm', usage };
  if (isStream) return { body: streamSteps({ ...facts, pieces: ['Hi'], includeUsageChunk: true }) };
  return { body: completionBody({ ...facts, content: 'Hi' }) };
};
upstream.script(greet);

type Fields = Readonly<Record<string, unknown>>;

function ask(fields: Fields): Promise<Reply> {
  const body = { model: 'large', input: 'Hello', ...fields };
  return send('/v1/responses', { url: service.url, key: app.liveKey, user, body });
}

async function sentFor(fields: Fields): Promise<Fields> {
  const reply = await ask(fields);
  assert.equal(reply.status, 200, `${JSON.stringify(fields)} ${reply.text}`);
  return upstream.requests.at(-1)?.body as Fields;
}

const withValue = ({ name, beside }: ParameterRow, value: unknown): Fields => ({ ...beside, [name]: value });

test('WI-04 each parameter is taken with its values, and none names the payer', async () => {
  for (const row of RESPONSES_TABLE) {
    for (const value of row.accepted) {
      const sent = await sentFor(withValue(row, value));
      assert.doesNotMatch(JSON.stringify(sent), /CANARY/, row.name);
      if (row.kind === 'forwarded' && row.name in sent && row.name.startsWith('t') && typeof value !== 'object') {
        assert.deepEqual(sent[row.name], value, row.name);
      }
    }
  }
});

test('WI-04 a null and a default of each parameter count as absent', async () => {
  for (const { name, defaults = [] } of RESPONSES_TABLE) {
    for (const model of ['large', 'few']) {
      const sent = await sentFor({ model, [name]: null });
      assert.deepEqual(Object.keys(sent).toSorted(), ['max_completion_tokens', 'messages', 'model'], name);
    }
    for (const value of defaults) {
      const sent = await sentFor({ model: 'few', [name]: value });
      assert.deepEqual(Object.keys(sent).toSorted(), ['max_completion_tokens', 'messages', 'model'], name);
    }
  }
});

test('WI-04 any other value is refused by its path, and costs nothing', async () => {
  const before = [upstream.requests.length, await service.wallet(app, user)];
  for (const row of RESPONSES_TABLE) {
    for (const [value, path = row.name] of row.refused) {
      const reply = await ask(withValue(row, value));
      assertRefusal(reply, { code: 'BAD_REQUEST', param: path, hasLink: false }, JSON.stringify(value));
    }
  }
  assert.deepEqual([upstream.requests.length, await service.wallet(app, user)], before);
});

test('WI-04 the provider gets what the caller meant, in its own words', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const reply = await ask({
    instructions: 'Be brief.',
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'Look.' }] }],
    max_output_tokens: 99,
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'cat', schema, strict: true }, verbosity: 'low' },
    tools: [
      { type: 'custom', name: 'exec' },
      { type: 'web_search', external_web_access: false },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    store: false,
    include: ['reasoning.encrypted_content'],
    client_metadata: { session: 'CANARY' },
    metadata: { team: 'CANARY' },
    user: 'CANARY',
  });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('x-service-left-out'), 'web_search');
  const { tools, ...sent } = (upstream.requests.at(-1)?.body ?? {}) as Fields;
  assert.match(JSON.stringify(tools), /^\[{"type":"function","function":{"name":"exec","description":"",/);
  assert.deepEqual(sent, {
    model: 'large-upstream',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
    ],
    parallel_tool_calls: false,
    response_format: { type: 'json_schema', json_schema: { name: 'cat', schema, strict: true } },
    verbosity: 'low',
    reasoning_effort: 'low',
    tool_choice: 'auto',
    max_completion_tokens: 99,
  });
});

test('WI-04 what agents say unasked is left out where the vendor has no word for it', async () => {
  upstream.script({
    body: JSON.stringify({
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    }),
  });
  const reply = await ask({
    model: 'gemini',
    tools: [
      { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } },
      { type: 'tool_search' },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    text: { verbosity: 'low' },
    store: false,
  });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('x-service-left-out'), 'tool_search, text.verbosity, parallel_tool_calls');
});

/** The header of a call that offers tools of these types beside a function. */
async function leftOut(types: readonly string[], stream: boolean): Promise<string> {
  const reply = await ask({ tools: [{ type: 'function', name: 'look' }, ...types.map((type) => ({ type }))], stream });
  assert.equal(reply.status, 200, reply.text);
  return reply.headers.get('x-service-left-out') ?? '';
}

test('WI-04 names of tools that were left out are safe in a header, and few', async () => {
  upstream.script(greet);
  for (const stream of [false, true]) {
    assert.equal(await leftOut(['a\r\nb: c', 'd\u2603'], stream), 'a__b:_c, d_');
    const many = Array.from({ length: 3_000 }, (_, place) => `${'x'.repeat(5_000)}${place}`.slice(-500));
    assert.match(await leftOut(many, stream), /^(?:x{64}, ){32}\.\.\.$/);
  }
});

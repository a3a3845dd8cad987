import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Reply, send } from '../support/client.ts';
import { MESSAGES_TABLE } from '../support/messages-parameter-table.ts';
import type { ParameterRow } from '../support/parameter-table.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

/** Each row of the table over real HTTP: what the provider receives of it, and that a refusal changes nothing. */

const stage = await setStage({
  environment: { ANTHROPIC_KEY: 'k' },
  catalogue: ({ models: [large], providers, ...rest }) => {
    const few = { ...large, id: 'acme.few-1', providerModel: 'few-upstream', parameters: [] };
    const claude = { ...large, id: 'acme.claude-1', provider: 'claude', providerModel: 'claude-haiku-5-5' };
    const { baseUrl } = providers.upstream;
    return {
      ...rest,
      providers: { ...providers, claude: { kind: 'anthropic', baseUrl, apiKeyEnv: 'ANTHROPIC_KEY' } },
      models: [large, few, claude],
      aliases: { large: 'acme.large-1', few: 'acme.few-1', claude: 'acme.claude-1' },
    };
  },
});
const { upstream, service, app } = stage;
const user = await stage.newUser(100_000_000);

const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
upstream.script(({ body }) => {
  const isStream = (body as Fields)['stream'] === true;
  const facts = { model: 'm', usage };
  if (isStream) return { body: streamSteps({ ...facts, pieces: ['Hi'], includeUsageChunk: true }) };
  return { body: completionBody({ ...facts, content: 'Hi' }) };
});

type Fields = Readonly<Record<string, unknown>>;

function ask(fields: Fields, path = '/v1/messages'): Promise<Reply> {
  const body = { model: 'large', max_tokens: 99, messages: [{ role: 'user', content: 'Hello' }], ...fields };
  return send(path, { url: service.url, key: app.liveKey, user, body });
}

async function sentFor(fields: Fields): Promise<Fields> {
  const reply = await ask(fields);
  assert.equal(reply.status, 200, `${JSON.stringify(fields)} ${reply.text}`);
  return upstream.requests.at(-1)?.body as Fields;
}

const withValue = ({ name, beside }: ParameterRow, value: unknown): Fields => ({ ...beside, [name]: value });

test('WI-08 each parameter is taken with its values, and none names the payer', async () => {
  for (const row of MESSAGES_TABLE) {
    for (const value of row.accepted) {
      if (row.name === 'max_tokens' && Number(value) > 1_000) continue; // Above the model's.
      const sent = await sentFor(withValue(row, value));
      assert.doesNotMatch(JSON.stringify(sent), /CANARY/, row.name);
    }
  }
});

test('WI-08 a null and a default of each parameter count as absent', async () => {
  for (const { name, defaults = [] } of MESSAGES_TABLE) {
    const values = name === 'max_tokens' ? [] : [null, ...defaults];
    for (const value of values) {
      const sent = await sentFor({ model: 'few', [name]: value });
      assert.deepEqual(Object.keys(sent).toSorted(), ['max_completion_tokens', 'messages', 'model'], name);
    }
  }
});

test('WI-08 any other value is refused by its path, and costs nothing', async () => {
  const before = [upstream.requests.length, await service.wallet(app, user)];
  for (const row of MESSAGES_TABLE) {
    for (const [value, path = row.name] of row.refused) {
      const { status, body } = await ask(withValue(row, value));
      const error = (body['error'] ?? {}) as Fields;
      const said = [status, body['type'], error['type'], error['code'], error['param']];
      assert.deepEqual(said, [400, 'error', 'invalid_request_error', 'BAD_REQUEST', path], JSON.stringify(value));
    }
  }
  assert.deepEqual([upstream.requests.length, await service.wallet(app, user)], before);
});

/** What Claude Code sends with each call, shortened. */
const MARK = { cache_control: { type: 'ephemeral' } };
const AGENT: Fields = {
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.332' },
    { type: 'text', text: 'You are an agent.', ...MARK },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
    { role: 'system', content: 'The environment.', output_config: { effort: 'medium' } },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: '', signature: 'sig-1' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'a' } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'A file.', is_error: false, ...MARK }],
    },
  ],
  tools: [
    { name: 'Read', description: 'Reads.', input_schema: { type: 'object', properties: { path: { type: 'string' } } } },
    { name: 'DeferredToolPlaceholder', input_schema: { type: 'object', properties: {} }, defer_loading: true },
  ],
  metadata: { user_id: '{"device":"CANARY"}' },
  thinking: { type: 'adaptive', display: 'omitted' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  output_config: { effort: 'medium' },
};

test('WI-08 what Claude Code sends reaches a vendor of chat completions', async () => {
  const reply = await ask({ ...AGENT, model: 'few' }, '/v1/messages?beta=true');
  assert.equal(reply.status, 400, reply.text); // Its list has no tools.
  const { messages, tools, ...sent } = await sentFor(AGENT);
  assert.deepEqual(messages, [
    { role: 'system', content: [{ type: 'text', text: 'You are an agent.' }] },
    { role: 'user', content: 'Look.' },
    { role: 'user', content: '<system-reminder>\nThe environment.\n</system-reminder>' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'Read', arguments: '{"path":"a"}' } }],
      reasoning_details: [
        { type: 'reasoning.text', text: '', signature: 'sig-1', index: 0, format: 'anthropic-claude-v1' },
      ],
    },
    { role: 'tool', tool_call_id: 'toolu_1', content: 'A file.' },
  ]);
  assert.equal((tools as readonly unknown[]).length, 2);
  assert.deepEqual(sent, { model: 'large-upstream', max_completion_tokens: 99, reasoning_effort: 'medium' });
});

test('WI-08 what Claude Code sends reaches Claude', async () => {
  const content = [{ type: 'text', text: 'Hi' }];
  const told = { input_tokens: 1, output_tokens: 1 };
  const answer = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: 'end_turn',
    usage: told,
  };
  upstream.script({ body: JSON.stringify(answer) });
  const sent = await sentFor({ ...AGENT, model: 'claude' });
  const {
    metadata: _metadata,
    system: _system,
    ...asked
  } = JSON.parse(
    // The model has no price for writes to a cache, so no mark goes out.
    JSON.stringify(AGENT).replaceAll(/,"cache_control":\{"type":"ephemeral"\}/g, ''),
  ) as Fields;
  const system = [{ type: 'text', text: 'You are an agent.' }];
  assert.deepEqual(sent, { model: 'claude-haiku-5-5', max_tokens: 99, system, ...asked });
});

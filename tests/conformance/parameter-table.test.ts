import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { NAMED_PARAMETERS } from '../../packages/service/src/gateway/parameters/parameters.ts';
import { REFUSED_PARAMETERS } from '../../packages/service/src/gateway/parameters/refused.ts';
import { chat, type Reply } from '../support/client.ts';
import { FOREIGN_PARAMETERS, PARAMETER_TABLE, type ParameterRow } from '../support/parameter-table.ts';
import { holdFor } from '../support/hold-price.ts';
import { assertRefusal } from '../support/refusal.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { VENDOR_TABLE } from '../support/vendor-parameter-table.ts';

/** Each row of the table over real HTTP: what the provider receives of it, what a refusal says, and that it changes nothing. */

const stage = await setStage({
  catalogue: ({ models: [large], ...rest }) => {
    const few = { ...large, id: 'acme.few-1', providerModel: 'few-upstream', parameters: [] };
    const open = { ...large, id: 'acme.open-1', parameters: ['*', ...VENDOR_TABLE.map(({ name }) => name)] };
    const aliases = { large: 'acme.large-1', few: 'acme.few-1', open: 'acme.open-1' };
    return { ...rest, models: [large, few, open], aliases };
  },
});
const { upstream, service, app } = stage;
const user = await stage.newUser(100_000_000);

const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
upstream.script(({ body }) => {
  const isStream = (body as Record<string, unknown>)['stream'] === true;
  const facts = { model: 'm', usage };
  if (isStream) return { body: streamSteps({ ...facts, pieces: ['Hi'], includeUsageChunk: true }) };
  return { body: completionBody({ ...facts, content: 'Hi' }) };
});

type Fields = Readonly<Record<string, unknown>>;

function ask(fields: Fields, key = app.liveKey): Promise<Reply> {
  return chat({ url: service.url, key, user }, fields);
}

type Sent = Awaited<ReturnType<typeof sentFor>>;

async function sentFor(fields: Fields) {
  const reply = await ask(fields);
  assert.equal(reply.status, 200, `${JSON.stringify(fields)} ${reply.text}`);
  const request = upstream.requests.at(-1);
  return { fields: request?.body as Fields, text: request?.rawBody.toString('utf8') ?? '' };
}

async function assertUntouched(act: () => Promise<void>): Promise<void> {
  const before = [upstream.requests.length, await service.wallet(app, user)];
  await act();
  assert.deepEqual([upstream.requests.length, await service.wallet(app, user)], before, 'no call, no hold, no charge');
}

const ALL = [...PARAMETER_TABLE, ...VENDOR_TABLE];

const withValue = ({ name, kind, beside }: ParameterRow, value: unknown): Fields => ({
  ...(kind === 'vendor' && { model: 'open' }),
  ...beside,
  [name]: value,
});

/** The form in which an accepted value reached the provider. */
function assertSent(row: ParameterRow, value: unknown, { fields, text }: Sent): void {
  const { name, kind } = row;
  assert.doesNotMatch(text, /CANARY/);
  switch (kind) {
    case 'forwarded':
    case 'vendor':
      assert.ok(text.includes(`${JSON.stringify(name)}:${JSON.stringify(value)}`), `${name} in ${text}`);
      return;
    case 'neutral':
      if (name in fields) assert.deepEqual(fields[name], value);
      return;
    case 'kept':
    case 'decided':
    case 'refused':
      assert.notEqual(text, '');
  }
}

for (const row of ALL.filter(({ accepted }) => accepted.length > 0)) {
  test(`CC-13 ${row.name} accepts valid values up to their limits: ${row.kind}`, async () => {
    for (const value of row.accepted) assertSent(row, value, await sentFor(withValue(row, value)));
  });
}

for (const row of ALL) {
  test(`CC-13 ${row.name} as null counts as absent for every model`, async () => {
    for (const model of ['large', 'few']) {
      const { fields } = await sentFor({ model, [row.name]: null });
      assert.deepEqual(Object.keys(fields).toSorted(), ['max_completion_tokens', 'messages', 'model']);
    }
  });
}

for (const row of ALL.filter(({ defaults }) => defaults !== undefined)) {
  test(`CC-13 ${row.name} at its default counts as absent where unsupported`, async () => {
    for (const value of row.defaults ?? []) {
      const { fields } = await sentFor({ model: 'few', [row.name]: value });
      assert.deepEqual(Object.keys(fields).toSorted(), ['max_completion_tokens', 'messages', 'model']);
    }
  });
}

for (const row of ALL) {
  test(`CC-07 ${row.name} with any other value is refused by its path`, async () => {
    await assertUntouched(async () => {
      for (const [value, path = row.name] of row.refused) {
        const reply = await ask(withValue(row, value));
        assertRefusal(reply, { code: 'BAD_REQUEST', param: path, hasLink: false }, JSON.stringify(value));
        const said = row.kind === 'refused' ? `\`${path}\` is not a supported parameter.` : `\`${path}\` must be `;
        assert.ok(String(reply.error['message']).startsWith(said), reply.text);
      }
    });
  });
}

const TAKEN = [
  'model',
  'messages',
  ...PARAMETER_TABLE.filter(({ kind }) => kind !== 'refused').map(({ name }) => name),
];

function listedIn(reply: Reply): readonly string[] {
  const list = /Supported: (.*)\.$/.exec(String(reply.error['message']))?.[1] ?? '';
  return list.split(', ').map((name) => name.replaceAll('`', ''));
}

test('CC-03 parameters without a price are refused with a reason', async () => {
  await assertUntouched(async () => {
    for (const { name, refused } of PARAMETER_TABLE.filter(({ kind }) => kind === 'refused')) {
      for (const key of [app.liveKey, app.testKey]) {
        const reply = await ask({ [name]: refused[0]?.[0] }, key);
        assertRefusal(reply, { code: 'BAD_REQUEST', param: name });
        assert.match(String(reply.error['message']), /no price here|deprecated: use `tool/);
        assert.deepEqual(listedIn(reply).toSorted(), TAKEN.toSorted());
      }
    }
  });
});

test('CC-03 parameters of other interfaces are refused with their replacement', async () => {
  await assertUntouched(async () => {
    for (const [name, value, advice] of FOREIGN_PARAMETERS) {
      const reply = await ask({ [name]: value });
      assertRefusal(reply, { code: 'BAD_REQUEST', param: name });
      assert.ok(String(reply.error['message']).startsWith(`\`${name}\` is not a supported parameter. `), reply.text);
      assert.match(String(reply.error['message']), advice);
      assert.deepEqual(listedIn(reply).toSorted(), TAKEN.toSorted());
    }
  });
});

test('CC-03 a model with an empty list accepts only defaults', async () => {
  await assertUntouched(async () => {
    for (const row of PARAMETER_TABLE.filter(({ kind }) => kind === 'forwarded')) {
      const telling = row.accepted.filter(
        (value) => !JSON.stringify(row.defaults ?? []).includes(JSON.stringify(value)),
      );
      for (const value of telling) {
        const reply = await ask({ model: 'few', [row.name]: value, ...(row.name === 'tool_choice' && row.beside) });
        assertRefusal(reply, { code: 'BAD_REQUEST' }, JSON.stringify(value));
        if (reply.error['param'] !== 'tools') assert.equal(listedIn(reply).includes(row.name), false, reply.text);
      }
    }
  });
});

test('CC-13 conflicting values are refused by the extra one’s name', async () => {
  const tools = [{ type: 'function', function: { name: 'find' } }];
  for (const [fields, param] of [
    [{ stream_options: { include_usage: true } }, 'stream_options'],
    [{ stream: false, stream_options: {} }, 'stream_options'],
    [{ top_logprobs: 1 }, 'top_logprobs'],
    [{ top_logprobs: 1, logprobs: false }, 'top_logprobs'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ tool_choice: { type: 'function', function: { name: 'find' } } }, 'tool_choice'],
    [{ tools, tool_choice: { type: 'function', function: { name: 'Find' } } }, 'tool_choice'],
  ] as const) {
    assertRefusal(await ask(fields), { code: 'BAD_REQUEST', param }, JSON.stringify(fields));
  }
});

test('CC-13 `tool_choice` may be `none` or `auto` without tools', async () => {
  for (const choice of ['none', 'auto']) await sentFor({ tool_choice: choice });
  const tools = [{ type: 'function', function: { name: 'find' } }];
  assert.equal((await sentFor({ tools, tool_choice: 'none' })).fields['tool_choice'], 'none');
});

test('CC-03 a vendor parameter is refused unless listed', async () => {
  await assertUntouched(async () => {
    for (const { name, accepted, defaults = [] } of VENDOR_TABLE) {
      const telling = accepted.find((value) => !defaults.includes(value));
      for (const model of ['large', 'few']) {
        const reply = await ask({ model, [name]: telling });
        assertRefusal(reply, { code: 'BAD_REQUEST', param: name });
        assert.match(String(reply.error['message']), /is not a supported parameter/);
        assert.equal(listedIn(reply).includes(name), false);
      }
    }
  });
});

test('CC-03 WA-07 a thinking budget may not exceed the output limit', async () => {
  await assertUntouched(async () => {
    for (const [fields, param] of [
      [{ thinking: { type: 'enabled', budget_tokens: 16 }, max_tokens: 16 }, 'thinking.budget_tokens'],
      [{ thinking_budget: 1_000 }, 'thinking_budget'],
    ] as const) {
      assertRefusal(await ask({ model: 'open', ...fields }), { code: 'BAD_REQUEST', param });
    }
  });
  // Fifty tokens of thought and one of answer need a hold for fifty-one.
  const messages = [{ role: 'user', content: 'Hi' }];
  const poor = await stage.newUser(holdFor(JSON.stringify({ messages }), 50));
  const fields = { model: 'open', messages, max_tokens: 100 };
  const lowered = await chat({ url: service.url, key: app.liveKey, user: poor }, fields);
  assert.equal(lowered.status, 200, lowered.text);
  const refused = await chat({ url: service.url, key: app.liveKey, user: poor }, { ...fields, thinking_budget: 50 });
  assert.equal(refused.status, 402, refused.text);
});

test('CC-13 empty tool and stop lists reach no provider', async () => {
  for (const model of ['large', 'few']) {
    const { fields } = await sentFor({ model, tools: [], stop: [], tool_choice: 'auto', parallel_tool_calls: false });
    assert.deepEqual(Object.keys(fields).toSorted(), ['max_completion_tokens', 'messages', 'model']);
  }
});

test('CC-03 the table has exactly the parameters the gateway knows', () => {
  const known = [...NAMED_PARAMETERS, ...REFUSED_PARAMETERS.keys()];
  assert.deepEqual(['model', 'messages', ...ALL.map(({ name }) => name)].toSorted(), known.toSorted());
});

const DOCUMENT = new URL('../../docs/PARAMETERS.md', import.meta.url);

test('CC-03 docs/PARAMETERS.md matches the table', () => {
  // Three columns: the table of other kinds has one for each of them.
  const [document = ''] = readFileSync(DOCUMENT, 'utf8').split('## Parameters of `POST /v1/responses`');
  const rows = document.matchAll(/^\| `(\w+)` \| (\w+) \|[^|]*\|$/gm);
  const told = Array.from(rows, ([, name, kind]) => `${name}: ${kind}`);
  const expected = ALL.map(({ name, kind }) => `${name}: ${kind}`);
  assert.deepEqual(told.toSorted(), [...expected, 'messages: forwarded', 'model: decided'].toSorted());
});

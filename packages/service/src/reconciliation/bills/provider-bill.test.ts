import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareBill, type OwnUse } from '#reconciliation/bills/compare-bill.ts';
import { readBill } from '#reconciliation/bills/provider-bill.ts';

const PERIOD = { from: '2026-09-01', to: '2026-10-01' };

const OPENROUTER = `{"data":[{"byok_usage_inference":0.012,"completion_tokens":125,"date":"2026-09-24",
  "endpoint_id":"550e8400-e29b-41d4-a716-446655440000","model":"openai/gpt-4.1","model_permaslug":"openai/gpt-4.1-2025-04-14",
  "prompt_tokens":50,"provider_name":"OpenAI","reasoning_tokens":25,"requests":5,"usage":0.015}]}`;
const ANTHROPIC = `{"data":[{"ending_at":"2026-09-02T00:00:00Z","results":[{"amount":"123.78912","context_window":"0-200k",
  "cost_type":"tokens","currency":"USD","description":"Claude Sonnet 4 Usage - Input Tokens","model":"claude-sonnet-4-20250514",
  "service_tier":"standard","token_type":"uncached_input_tokens","workspace_id":"wrkspc_01JwQvzr7rXLA5AGx3HKfFUJ"}],
  "starting_at":"2026-09-01T00:00:00Z"}],"has_more":false,"next_page":null}`;

const OPENAI = `{"object":"page","data":[{"object":"bucket","start_time":1788220800,"end_time":1788307200,"results":[
  {"object":"organization.costs.result","amount":{"value":1.29e-05,"currency":"usd"},"line_item":"gpt-4o-2024-08-06, input","project_id":null},
  {"object":"organization.costs.result","amount":{"value":0.06,"currency":"usd"},"line_item":"web search","project_id":null}]}],
  "has_more":false,"next_page":null}`;

test('CP-16 bills are read in each provider’s format, exactly', () => {
  assert.deepEqual(readBill(`\uFEFF${OPENROUTER}`, 'openrouter', PERIOD), [
    {
      day: '2026-09-24',
      model: 'openai/gpt-4.1',
      cost: 15_000_000_000n,
      requests: 5n,
      inputTokens: 50n,
      outputTokens: 125n,
    },
  ]);
  const [line] = readBill(`[${ANTHROPIC}]`, 'anthropic', PERIOD);
  assert.equal(line?.cost, 1_237_891_200_000n);
  assert.equal(line?.day, '2026-09-01');
  assert.deepEqual(
    readBill(OPENAI, 'openai', PERIOD).map(({ day, model, cost }) => [day, model, cost]),
    [
      ['2026-09-01', 'gpt-4o-2024-08-06', 12_900_000n],
      ['2026-09-01', 'web search', 60_000_000_000n],
    ],
  );
  const costOf = (usage: string) => readBill(OPENROUTER.replace('0.015', usage), 'openrouter', PERIOD)[0]?.cost;
  assert.equal(costOf('0.1234567890123456789'), 123_456_789_012n);
  assert.equal(costOf('1.5e-7'), 150_000n);
  assert.equal(costOf('10'), 10_000_000_000_000n);
});

test('CP-16 an incomplete or foreign bill is refused', () => {
  const faults: readonly (readonly [string, 'openrouter' | 'anthropic' | 'openai', RegExp])[] = [
    ['day,cost\n', 'openrouter', /not JSON/],
    ['{}', 'openrouter', /Answer 1 of the file has no list/],
    [OPENROUTER.replace('0.015', '"0,015"'), 'openrouter', /Entry 1: `usage` must be an amount/],
    [OPENROUTER.replace('0.015', '-1'), 'openrouter', /Entry 1: `usage` must be an amount/],
    [OPENROUTER.replace('"requests":5', '"requests":5.5'), 'openrouter', /`requests` must be a whole number/],
    [OPENROUTER.replace('2026-09-24', '24.09.2026'), 'openrouter', /`date` must be a UTC day/],
    [OPENROUTER.replace('2026-09-24', '2026-10-01'), 'openrouter', /outside the period/],
    [ANTHROPIC.replace('"USD"', '"EUR"'), 'anthropic', /not USD/],
    [ANTHROPIC.replace('123.78912', '123,78'), 'anthropic', /`amount` must be an amount/],
    [ANTHROPIC.replace('"cost_type":"tokens"', '"cost_type":null'), 'anthropic', /group_by/],
    [ANTHROPIC.replace('"has_more":false', '"has_more":true'), 'anthropic', /the list goes on/],
    [OPENAI.replace('"usd"', '"eur"'), 'openai', /not usd/],
    [OPENAI.replace('"web search"', 'null'), 'openai', /group_by=line_item/],
    [OPENAI.replace('1788220800', '1788224400'), 'openai', /not one UTC day/],
    [OPENAI.replace('1788307200', '1788393600'), 'openai', /not one UTC day/],
    [OPENAI.replace('0.06', '-0.06'), 'openai', /`amount.value` must be an amount/],
    [OPENAI.replaceAll('17882', '17890').replaceAll('17883', '17891'), 'openai', /not one UTC day|outside/],
    [ANTHROPIC.replace('T00:00:00Z",\n  "results', ''), 'openrouter', /Entry 1: `date`/],
  ];
  for (const [text, format, message] of faults) assert.throws(() => readBill(text, format, PERIOD), message);
});

const use = (calls: bigint, cost: bigint): OwnUse => ({
  calls,
  unpaidCalls: 1n,
  roughCalls: 0n,
  inputTokens: 10n,
  outputTokens: 5n,
  cost,
  unpaidCost: 2n,
});

test('CP-16 bills and calls are compared by day and model', () => {
  const line = { requests: 1n, inputTokens: 4n, outputTokens: 2n };
  const rows = compareBill(
    [
      { day: '2026-09-01', model: 'm-20250514', cost: 100n, ...line },
      { day: '2026-09-01', model: 'm-20250514', cost: 11n, ...line },
      { day: '2026-09-01', model: undefined, cost: 7n, ...line },
      { day: '2026-09-02', model: 'other-2025-05-14', cost: 5n, ...line },
    ],
    [
      { day: '2026-09-01', model: 'm', use: use(2n, 60n) },
      { day: '2026-09-01', model: 'm', use: use(1n, 40n) },
      { day: '2026-09-03', model: 'm', use: use(1n, 9n) },
    ],
  );
  assert.deepEqual(
    rows.map(({ day, model, theirs, ours, requests }) => [
      day,
      model,
      theirs,
      ours.cost,
      ours.calls,
      ours.unpaidCost,
      requests,
    ]),
    [
      ['2026-09-01', undefined, 7n, 0n, 0n, 0n, 1n],
      ['2026-09-01', 'm', 111n, 100n, 3n, 4n, 2n],
      ['2026-09-02', 'other-2025-05-14', 5n, 0n, 0n, 0n, 1n],
      ['2026-09-03', 'm', 0n, 9n, 1n, 2n, undefined],
    ],
  );
});

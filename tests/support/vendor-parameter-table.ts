import type { ParameterRow } from './parameter-table.ts';

/** Parameters of vendors, written down independently of the service's own table. A model takes them only if it lists them. */

const LONG = 'x'.repeat(65_537);
const wrong = (...values: readonly unknown[]) => values.map((value) => [value] as const);
const row = (name: string, accepted: readonly unknown[], refused: ParameterRow['refused']): ParameterRow => ({
  name,
  kind: 'vendor',
  accepted,
  refused,
});
const grammar = (name: string) => row(name, ['root ::= "a"', ''], wrong(LONG, 7, {}, []));
const share = (name: string, normal: number): ParameterRow => ({
  ...row(name, [0, 0.5, 1], wrong(-0.1, 1.1, '0', true)),
  defaults: [normal],
});

export const VENDOR_TABLE: readonly ParameterRow[] = [
  row(
    'chat_template_kwargs',
    [{}, { enable_thinking: false, reasoning_effort: 'high', thinking_budget: 512 }],
    [
      ...wrong('thinking', [], 7, Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`a${index}`, true]))),
      [{ chat_template: '{{ messages }}' }, 'chat_template_kwargs.chat_template'],
      [{ messages: true }, 'chat_template_kwargs.messages'],
      [{ tokenize: false }, 'chat_template_kwargs.tokenize'],
      [{ documents: [] }, 'chat_template_kwargs.documents'],
      [{ thinking: {} }, 'chat_template_kwargs.thinking'],
      [{ prefix: 'x'.repeat(65) }, 'chat_template_kwargs.prefix'],
      [{ Thinking: true }, 'chat_template_kwargs.Thinking'],
      [{ budget: 10_000_001 }, 'chat_template_kwargs.budget'],
    ],
  ),
  grammar('ebnf'),
  row('enable_thinking', [true, false], wrong('true', 1, {})),
  grammar('grammar'),
  row(
    'guided_choice',
    [['a'], ['yes', 'no', '']],
    [...wrong([], 'a', {}, Array.from({ length: 257 }, String)), [['a', 1], 'guided_choice[1]']],
  ),
  grammar('guided_grammar'),
  row('guided_json', [{ type: 'object' }, '{"type":"object"}'], wrong([], 7, true)),
  grammar('guided_regex'),
  share('min_p', 0),
  grammar('regex'),
  { ...row('repetition_penalty', [0.5, 1, 1.2, 10], wrong(-1, 10.1, '1', true)), defaults: [1] },
  row(
    'structured_outputs',
    [{}, { json: { type: 'object' } }, { choice: ['a', 'b'] }, { regex: 'a+', disable_any_whitespace: true }],
    [
      ...wrong([], 'json', 7),
      [{ choice: [] }, 'structured_outputs.choice'],
      [{ regex: 1 }, 'structured_outputs.regex'],
      [{ backend: 'x' }, 'structured_outputs.backend'],
    ],
  ),
  row(
    'thinking',
    [{ type: 'enabled' }, { type: 'disabled' }, { type: 'enabled', budget_tokens: 999 }],
    [
      ...wrong({}, { type: 'always' }, 'enabled', true),
      [{ type: 'enabled', budget_tokens: -1 }, 'thinking.budget_tokens'],
      [{ type: 'enabled', budget_tokens: '5' }, 'thinking.budget_tokens'],
      [{ type: 'enabled', keep: 'all' }, 'thinking.keep'],
    ],
  ),
  row('thinking_budget', [0, 999], wrong(-1, 1.5, '5', 10_000_001)),
  share('top_a', 0),
  row('top_k', [-1, 0, 40, 1_000_000], wrong(-2, 1.5, 1_000_001, '40')),
  share('typical_p', 1),
];

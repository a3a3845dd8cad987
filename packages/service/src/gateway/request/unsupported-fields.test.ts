import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fittedOf as messagesFitted } from '../../../../../tests/support/read-messages.ts';
import { fittedOf as responsesFitted, SEALED_IDS, byOf } from '../../../../../tests/support/read-responses.ts';
import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import { packed } from '#gateway/wires/messages/conversation/thought-signatures.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { findUnsupported } from '#providers/capabilities/capabilities.ts';

const KINDS = [
  ['anthropic', 'claude-haiku-5-5'],
  ['bedrock', 'anthropic.claude-haiku-5-5'],
  ['google', 'gemini-3-flash-preview'],
  ['mistral', 'mistral-large-2512'],
] as const;

const DETAILS = [
  { type: 'reasoning.encrypted', data: 'x', index: 0, format: 'openai-responses-v1' },
  { type: 'message.reasoning', text: 'Hm.' },
  { type: 'tool_call.extra_content', id: 'a', extra_content: { google: 1 } },
];
const MARK = { cache_control: { type: 'ephemeral' } };
const SCHEMA = { type: 'object', properties: {} };
/** A conversation that began with other vendors, on each wire. */
const MESSAGES = {
  system: [{ type: 'text', text: 'Be brief.', ...MARK }],
  tools: [{ name: 'look', input_schema: SCHEMA, ...MARK }],
  messages: [
    { role: 'user', content: 'Look.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: packed(DETAILS) },
        { type: 'tool_use', id: 'a', name: 'look', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'Seen.', ...MARK }] },
  ],
};
const RESPONSES = {
  tools: [{ type: 'function', name: 'look', parameters: SCHEMA }],
  input: [
    { role: 'user', content: 'Look.' },
    { type: 'reasoning', summary: [], encrypted_content: SEALED_IDS.ofThoughts(DETAILS, byOf()) },
    { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'Seen.' },
  ],
};

function find(kind: (typeof KINDS)[number][0], providerModel: string, request: JsonObject): unknown {
  const provider = { kind, baseUrl: 'https://a.test', onAbandon: 'cancel' } as CatalogueProvider;
  return findUnsupported({ provider, providerModel }, request);
}

for (const [kind, model] of KINDS) {
  test(`WI-08 WI-04 a conversation that others began goes on at ${kind}`, () => {
    const supports = {
      parameter: (name: string, value?: unknown) => find(kind, model, { [name]: value }) === undefined,
    };
    assert.equal(find(kind, model, messagesFitted(MESSAGES, supports).request), undefined);
    assert.equal(find(kind, model, responsesFitted(RESPONSES, supports).request), undefined);
  });
}

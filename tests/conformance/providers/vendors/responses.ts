import {
  eventSteps,
  callItem,
  messageItem,
  RESPONSE_USAGE,
  responseEvents,
  responseOf,
} from '../../../support/responses-upstream.ts';
import { reasoningItem } from '../../../support/responses-upstream.ts';
import { SCHEMA_ANSWER, type Vendor, type VendorAnswer } from './vendor.ts';

/** OpenAI's Responses, for models that have no other interface. */

type Fields = Readonly<Record<string, unknown>>;

const BILLED = { input: 12, cacheRead: 8, cacheWrite: 0, cacheWriteLong: 0, output: RESPONSE_USAGE.output_tokens };

export const responses: Vendor = {
  kind: 'openai-compatible',
  providerAt: (origin) => ({ kind: 'openai-compatible', baseUrl: `${origin}/v1` }),
  environment: {},
  models: { plain: 'gpt-9' },
  apis: ['responses'],
  failures: [],
  lateFailures: [],
  refused: [],
  answer: ({ path, body }): VendorAnswer => {
    const fields = body as Fields;
    if (path !== '/v1/responses') return { script: { status: 404, body: '{}' } };
    const items = itemsFor(fields);
    const script =
      fields['stream'] === true
        ? { body: eventSteps(responseEvents(items)) }
        : { body: JSON.stringify(responseOf(items)) };
    return { script, billed: BILLED };
  },
};

/** What the model says. It depends on the request alone. */
function itemsFor({ input, tools, text }: Fields): Parameters<typeof responseEvents>[0] {
  const thought = reasoningItem(['Two cities.'], 'sealed');
  const items = Array.isArray(input) ? (input as readonly Fields[]) : [];
  const results = items.filter(({ type }) => type === 'function_call_output').map(({ output }) => String(output));
  const format = (text as { readonly format?: Fields } | undefined)?.format;
  if (format?.['type'] === 'json_schema') return [messageItem(SCHEMA_ANSWER)];
  if (results.length > 0) return [thought, messageItem(`Results: ${results.join(', ')}`)];
  if (JSON.stringify(input).includes('input_image')) return [messageItem('I see 1 image')];
  if (tools === undefined) return [thought, messageItem('Hello from GPT 🐟')];
  return [
    thought,
    messageItem('Let me look. '),
    callItem('weather', '{"city":"Bern"}', 'call_bern'),
    callItem('weather', '{"city":"Zürich"}', 'call_zurich'),
  ];
}

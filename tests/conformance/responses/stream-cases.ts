import type { ErrorBody } from '@purser/contract/errors.ts';
import { chunkOf, echoOf, eventsIn, nativeChunk, openSealing, played, runOf, type Sent } from './streams.ts';
import type { JsonObject } from '../../../packages/service/src/kernel/text/json.ts';

const WEATHER = { id: 'call_1', type: 'function', index: 0, function: { name: 'get_weather', arguments: '' } };
const token = {
  token: 'Hi',
  logprob: -0.1,
  bytes: [72, 105],
  top_logprobs: [{ token: 'Hi', logprob: -0.1, bytes: null }],
};

const THINKS: readonly Sent[] = [
  chunkOf({ role: 'assistant', content: '' }),
  chunkOf({
    reasoning_content: 'Let me ',
    reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'Let me ' }],
  }),
  chunkOf({
    reasoning_content: 'see.',
    reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'see.' }],
  }),
  chunkOf({
    reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', signature: 'sig' }],
  }),
];
const CALLS: readonly Sent[] = [
  chunkOf({ tool_calls: [WEATHER] }),
  chunkOf({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
  chunkOf({
    tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'ns__look', arguments: '{}' } }],
  }),
  chunkOf({ tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] }),
  chunkOf({
    tool_calls: [{ index: 2, id: 'call_3', type: 'function', function: { name: 'exec', arguments: '{"input":"ls' } }],
  }),
  chunkOf({ tool_calls: [{ index: 2, function: { arguments: ' -l\\n"}' } }] }),
  chunkOf({}, 'tool_calls'),
];
const TOOLS = echoOf({ tool_choice: 'required', parallel_tool_calls: true }, [
  ['ns__look', { type: 'function', name: 'look', namespace: 'ns' }],
  ['exec', { type: 'custom', name: 'exec' }],
]);

const ITEM = { id: 'msg_v', type: 'message', status: 'in_progress', role: 'assistant', content: [] };
const PLACE = { item_id: 'msg_v', output_index: 1, content_index: 0 };
const TEXT = { type: 'output_text', text: '', annotations: [], logprobs: [] };
const THOUGHT = { id: 'rs_v', type: 'reasoning', summary: [], encrypted_content: 'vendor' };
export const textDelta = (delta: string, obfuscation: string): JsonObject => ({
  type: 'response.output_text.delta',
  sequence_number: 99,
  ...PLACE,
  delta,
  logprobs: [],
  obfuscation,
});

/** A stream of a vendor up to its text. */
export const NATIVE_BEGINNING: readonly Sent[] = [
  nativeChunk([{ type: 'response.created', sequence_number: 0, response: { id: 'resp_vendor', model: 'vendor-1' } }]),
  nativeChunk([
    { type: 'response.output_item.added', sequence_number: 2, output_index: 0, item: THOUGHT },
    { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item: THOUGHT },
  ]),
  nativeChunk([
    { type: 'response.output_item.added', sequence_number: 4, output_index: 1, item: ITEM },
    { type: 'response.content_part.added', sequence_number: 5, ...PLACE, part: TEXT },
  ]),
  nativeChunk([textDelta('Hel', '')]),
  runOf((text, padding) => ({ ...nativeChunk([textDelta(text, padding)]) }), ['lo, ', '"wörld"\n'], 2),
];

const WHOLE_TEXT = { ...TEXT, text: 'Hello, "wörld"\n' };
export const NATIVE_ITEM = { ...ITEM, status: 'completed', content: [WHOLE_TEXT] };
const NATIVE_TEXT_END: readonly Sent[] = [
  nativeChunk(
    [
      { type: 'response.output_text.done', sequence_number: 7, ...PLACE, text: WHOLE_TEXT.text, logprobs: [] },
      { type: 'response.content_part.done', sequence_number: 8, ...PLACE, part: WHOLE_TEXT },
      { type: 'response.output_item.done', sequence_number: 9, output_index: 1, item: NATIVE_ITEM },
    ],
    'stop',
  ),
];
const NATIVE_LAST = nativeChunk([
  {
    type: 'response.completed',
    sequence_number: 10,
    response: {
      id: 'resp_vendor',
      model: 'vendor-1',
      status: 'completed',
      instructions: 'hidden',
      service_tier: 'flex',
      reasoning: { effort: 'low', summary: null },
      output: [THOUGHT, NATIVE_ITEM],
      usage: { input_tokens: 1 },
    },
  },
]);

export const FAILURE: ErrorBody = {
  error: {
    code: 'UPSTREAM_PROVIDER_ERROR',
    message: 'The model provider is down or failed.',
    correlationId: 'cor_1',
    type: 'upstream_outage',
    param: null,
  },
};

/** Streams of all sorts, as callers get them. */
export const STREAM_CASES: Readonly<Record<string, () => string>> = {
  text: () =>
    played([chunkOf({ role: 'assistant', content: 'Hi' }), chunkOf({ content: ' there' }), chunkOf({}, 'stop')]),
  'text in runs': () =>
    played([
      chunkOf({ role: 'assistant', content: 'Hi' }),
      runOf((text) => chunkOf({ content: text }), [' you', ' "two"', ' ünd\n']),
      chunkOf({}, 'stop'),
    ]),
  'nothing at all': () => played([chunkOf({ role: 'assistant', content: '' }), chunkOf({}, 'stop')]),
  'silence first': () => played([chunkOf({ content: 'Hi' }, 'stop')], { isSilentFirst: true }),
  'thoughts and a text': () => played([...THINKS, chunkOf({ content: 'Hi' }), chunkOf({}, 'stop')]),
  'thoughts and calls': () => played([...THINKS, ...CALLS], { echo: TOOLS }),
  'a refusal behind a text': () =>
    played([
      chunkOf({ content: 'Well' }),
      chunkOf({ refusal: 'No' }),
      chunkOf({ refusal: ', thanks.' }),
      chunkOf({}, 'stop'),
    ]),
  'probabilities of tokens': () =>
    played([chunkOf({ content: 'Hi' }, null, { logprobs: { content: [token] } }), chunkOf({}, 'stop')]),
  citations: () =>
    played([
      chunkOf({ content: 'See' }),
      chunkOf({
        annotations: [
          {
            type: 'url_citation',
            url_citation: { start_index: 0, end_index: 3, url: 'https://a.example', title: 'A' },
          },
        ],
      }),
      chunkOf({}, 'stop'),
    ]),
  'a picture': () =>
    played([
      chunkOf({ content: 'Here' }),
      chunkOf({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] }),
      chunkOf({}, 'stop'),
    ]),
  'a long delta': () => played([chunkOf({ content: 'ä"\n€😀'.repeat(20_000) }), chunkOf({}, 'stop')]),
  'the output limit': () => played([chunkOf({ content: 'Hi' }), chunkOf({}, 'length')]),
  'a filter': () => played([chunkOf({ content: 'Hi' }), chunkOf({}, 'content_filter')]),
  'a cut text': () => played([chunkOf({ content: 'Hi' })], { how: 'cut' }),
  'a cut call': () => played(CALLS.slice(0, -2), { echo: TOOLS, how: 'cut' }),
  'a cut before anything': () => played([], { how: 'cut' }),
  'a failure in a text': () => played([chunkOf({ content: 'Hi' })], { how: FAILURE }),
  'a failure in silence': () => played([], { how: FAILURE, isSilentFirst: true }),
  'a carrier': () =>
    played([...THINKS, chunkOf({ content: 'Hi' }), chunkOf({}, 'stop')], {
      sealing: openSealing({ isStored: true, isCarried: true }),
    }),
  'events of a vendor': () => played([...NATIVE_BEGINNING, ...NATIVE_TEXT_END, NATIVE_LAST]),
  'events of a vendor, with a carrier': () =>
    played([...NATIVE_BEGINNING, ...NATIVE_TEXT_END, NATIVE_LAST], { sealing: openSealing({ isCarried: true }) }),
  'events of a vendor without the last': () => played([...NATIVE_BEGINNING, ...NATIVE_TEXT_END]),
  'events of a vendor without the end of an item': () => played([...NATIVE_BEGINNING, NATIVE_LAST]),
  'nothing of a vendor but the last event': () => played([NATIVE_LAST], { sealing: openSealing({ isCarried: true }) }),
  'cut events of a vendor': () => played(NATIVE_BEGINNING, { how: 'cut' }),
  'events of a vendor, failed': () => played(NATIVE_BEGINNING, { how: FAILURE }),
};

/** The events of a case. */
export function eventsOf(name: string): readonly JsonObject[] {
  const frames = STREAM_CASES[name];
  if (frames === undefined) throw new Error(`There is no stream “${name}”.`);
  return eventsIn(frames());
}

// The same answers in the format of OpenAI's Responses, for what it costs to pass them through.
import { USAGE } from '../support/catalogue.ts';
import { chunked, PLAIN_TEXT, STREAM_HEAD, STREAM_TEXTS } from './answers.ts';

const usage = {
  input_tokens: USAGE.prompt,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: USAGE.completion,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: USAGE.prompt + USAGE.completion,
};
const response = { id: 'resp_bench', object: 'response', created_at: 1_790_000_000, model: 'bench-upstream' };
const place = { item_id: 'msg_bench', output_index: 0, content_index: 0 };

const partOf = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const messageOf = (status: string, content: readonly object[]) => ({
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  status,
  content,
});
const answered = (text: string) => ({
  ...response,
  status: 'completed',
  output: [messageOf('completed', [partOf(text)])],
  usage,
});

const whole = Buffer.from(JSON.stringify(answered(PLAIN_TEXT)));

export const PLAIN_RESPONSE = Buffer.concat([
  Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${whole.length}\r\n\r\n`),
  whole,
]);

const text = STREAM_TEXTS.join('');
const events: readonly (readonly [type: string, fields: object])[] = [
  ['response.created', { response: { ...response, status: 'in_progress', output: [] } }],
  ['response.in_progress', { response: { ...response, status: 'in_progress', output: [] } }],
  ['response.output_item.added', { output_index: 0, item: messageOf('in_progress', []) }],
  ['response.content_part.added', { ...place, part: partOf('') }],
  ...STREAM_TEXTS.map((delta) => ['response.output_text.delta', { ...place, delta, logprobs: [] }] as const),
  ['response.output_text.done', { ...place, text, logprobs: [] }],
  ['response.content_part.done', { ...place, part: partOf(text) }],
  ['response.output_item.done', { output_index: 0, item: messageOf('completed', [partOf(text)]) }],
  ['response.completed', { response: answered(text) }],
];

/** The stream has as many pieces of text as the stream of chat completions. */
export const RESPONSE_STREAM = Buffer.concat([
  STREAM_HEAD,
  ...events.map(([type, fields], number) =>
    chunked(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...fields })}\n\n`),
  ),
  Buffer.from('0\r\n\r\n'),
]);

// The same answers in the format of Anthropic, for what it costs to translate them.
import { USAGE } from '../support/catalogue.ts';
import { chunked, PLAIN_TEXT, STREAM_HEAD, STREAM_TEXTS } from './answers.ts';

const usage = { input_tokens: USAGE.prompt, output_tokens: USAGE.completion };
const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench-upstream' };

const whole = Buffer.from(
  JSON.stringify({
    ...message,
    content: [{ type: 'text', text: PLAIN_TEXT }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  }),
);

export const PLAIN_MESSAGE = Buffer.concat([
  Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${whole.length}\r\n\r\n`),
  whole,
]);

function event(type: string, fields: Readonly<Record<string, unknown>>): Buffer {
  return chunked(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
}

/** The stream has as many pieces of text as the stream in the compatible format. */
export const MESSAGE_STREAM = Buffer.concat([
  STREAM_HEAD,
  event('message_start', {
    message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
  }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...STREAM_TEXTS.map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
  event('content_block_stop', { index: 0 }),
  event('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: USAGE.completion },
  }),
  event('message_stop', {}),
  Buffer.from('0\r\n\r\n'),
]);

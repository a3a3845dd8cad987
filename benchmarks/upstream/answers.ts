// What the upstream answers, made once.
import { USAGE } from '../support/catalogue.ts';
import { nowMicros, TICK, TICK_DIGITS } from './tick.ts';

export const STREAM_CHUNKS = 60;
export const CHUNK_PAUSE_MS = 50;
/** The number of chunks of a paced stream that nobody ends. They last one minute. */
export const PACED_CHUNKS = 1_200;
/** The text by which an answer is known to be this upstream's, in plain answers and in streams. */
export const EXPECTED_TEXT = 'A clerk counts';
/** The last event of a stream, which proves that all of it came. */
export const STREAM_END = 'data: [DONE]';

const CREATED = 1_790_000_000;
export const PLAIN_TEXT = `${EXPECTED_TEXT} every coin twice, writes the sum into the book, and closes it. `
  .repeat(3)
  .trim();
const usage = {
  prompt_tokens: USAGE.prompt,
  completion_tokens: USAGE.completion,
  total_tokens: USAGE.prompt + USAGE.completion,
};
const common = { id: 'chatcmpl-bench', created: CREATED, model: 'bench-upstream' };

const completion = Buffer.from(
  JSON.stringify({
    ...common,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: PLAIN_TEXT, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
  }),
);

/** A plain answer of about 500 bytes, head and all. */
export const PLAIN = Buffer.concat([
  Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${completion.length}\r\n\r\n`),
  completion,
]);

export const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n',
);

export const STREAM_TEXTS = Array.from({ length: STREAM_CHUNKS }, (_, index) =>
  index === 0 ? EXPECTED_TEXT : ` and word ${index}`,
);
const frames = STREAM_TEXTS.map((content, index) =>
  frameOf({
    ...common,
    object: 'chat.completion.chunk',
    choices: [
      {
        index: 0,
        delta: index === 0 ? { role: 'assistant', content } : { content },
        finish_reason: index === STREAM_CHUNKS - 1 ? 'stop' : null,
      },
    ],
    usage: null,
  }),
);
const usageFrame = frameOf({ ...common, object: 'chat.completion.chunk', choices: [], usage });

/** The end of a stream: the usage chunk and the sentinel. */
const tail = Buffer.concat([usageFrame, chunked(`${STREAM_END}\n\n`), Buffer.from('0\r\n\r\n')]);

/** A whole stream in one go: 60 chunks with content, and its end. */
export const STREAM = Buffer.concat([STREAM_HEAD, ...frames, tail]);

const pacedFrame = frameOf({
  ...common,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content: `${TICK}${'0'.repeat(TICK_DIGITS)}` }, finish_reason: null }],
  usage: null,
});
const lastFrame = frameOf({
  ...common,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  usage: null,
});
/** The end of a paced stream. */
export const PACED_TAIL = Buffer.concat([lastFrame, tail]);
const tickAt = pacedFrame.indexOf(TICK) + TICK.length;

/** One chunk of a paced stream, which says when it was sent. */
export function pacedChunk(): Buffer {
  const chunk = Buffer.from(pacedFrame);
  chunk.write(String(nowMicros()).padStart(TICK_DIGITS, '0'), tickAt, 'latin1');
  return chunk;
}

function frameOf(chunk: unknown): Buffer {
  return chunked(`data: ${JSON.stringify(chunk)}\n\n`);
}

/** One chunk of a body of unknown length. */
export function chunked(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

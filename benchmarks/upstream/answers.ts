// What the upstream answers, made once.
import { USAGE } from '../support/catalogue.ts';

export const STREAM_CHUNKS = 60;
export const CHUNK_PAUSE_MS = 50;
/** By which an answer is known to be this upstream's, in plain answers and in streams. */
export const EXPECTED_TEXT = 'A clerk counts';

const CREATED = 1_790_000_000;
const CONTENT = `${EXPECTED_TEXT} every coin twice, writes the sum into the book, and closes it. `.repeat(3).trim();
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
        message: { role: 'assistant', content: CONTENT, refusal: null },
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

const TEXTS = Array.from({ length: STREAM_CHUNKS }, (_, index) => (index === 0 ? EXPECTED_TEXT : ` and word ${index}`));
const frames = TEXTS.map((content, index) =>
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
export const PACED_TAIL = Buffer.concat([usageFrame, chunked('data: [DONE]\n\n'), Buffer.from('0\r\n\r\n')]);

/** A whole stream in one go: 60 chunks with content, and its end. */
export const STREAM = Buffer.concat([STREAM_HEAD, ...frames, PACED_TAIL]);

/** One chunk of a paced stream: they need not differ. */
export function pacedChunk(): Buffer {
  return frames[1] as Buffer;
}

function frameOf(chunk: unknown): Buffer {
  return chunked(`data: ${JSON.stringify(chunk)}\n\n`);
}

function chunked(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import type { ChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import { checkForError } from '#providers/errors/errors.ts';
import { hasError } from '#providers/errors/facts.ts';
import { createBodyReader } from '#providers/openai-compatible/event-body.ts';
import { createEventRuns } from '#providers/openai-responses/event-runs.ts';
import {
  createResponseChunks,
  ERRORS,
  type ResponseChunkOptions,
} from '#providers/openai-responses/response-chunks.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import { createEventReader } from '#providers/transport/sse.ts';

/** What some servers send behind the last event, as in chat completions. */
const END_OF_STREAM = '[DONE]';
const BLANKS_MAX = 16;
const FIRST_HEAD = 'response.created';
const SECOND_HEAD = '{"type":"response.in_progress"';
const USAGE = '"usage":{';

/** Reads the events of one stream of Responses as chunks of chat completions. Signs of life and events of others are passed over. */
export function createResponseEvents(options: ResponseChunkOptions): ChunkReader {
  const chunks = createResponseChunks(options);
  const runs = createEventRuns(options.isNative, chunks.ofText);
  let hasHead = false;

  function onEvent(data: string, raw: string, name: string | undefined): void {
    if (chunks.isDone()) return;
    const word = data.length <= END_OF_STREAM.length + BLANKS_MAX ? data.trim() : data;
    if (word === '') return;
    if (word === END_OF_STREAM) {
      chunks.close();
      return;
    }
    // OpenAI repeats instructions and tools in it: those of an agent take longer to parse than all that is said.
    if (hasHead && data.startsWith(SECOND_HEAD) && !data.includes(USAGE)) return;
    const event = parseJson(data);
    const type = isJsonObject(event) && typeof event['type'] === 'string' ? event['type'] : (name ?? '');
    const isResponse = type.startsWith('response.');
    if (!isJsonObject(event)) {
      if (type !== '' && !isResponse && !ERRORS.has(type)) return;
      throw new UpstreamError('malformed', 'The provider sent a frame that is not JSON.');
    }
    if (type === '' || (!isResponse && hasError(event))) checkForError(event);
    // One that came in several reads has only its last part here.
    const source = options.isNative && raw === `event: ${type}\ndata: ${data}\n\n` ? raw : undefined;
    const isAsItCame = chunks.take(type, event, source);
    hasHead ||= type === FIRST_HEAD;
    runs.learn(event, raw, data, isAsItCame);
  }

  const events = createEventReader({
    onEvent,
    skim: (text, at) => {
      const found = chunks.isDone() ? undefined : runs.find(text, at);
      if (found === undefined) return at;
      chunks.takeRun(found.run, found.event);
      return found.end;
    },
  });
  const body = createBodyReader(events.feed);

  return {
    feed: body.feed,
    end: () => {
      body.end();
      events.end();
      if (!chunks.isDone() && chunks.isWhole(false)) chunks.close();
    },
    take: chunks.taken,
    isDone: chunks.isDone,
    isComplete: () => chunks.isDone() || chunks.isWhole(true),
  };
}

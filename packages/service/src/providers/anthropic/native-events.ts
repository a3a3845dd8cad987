import { type TextTemplate, textTemplateOf } from '@purser/text-runs/text-template.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { DELTAS, EVENTS, fieldsIn, isOther } from '#providers/anthropic/fit.ts';
import { createMessageChunks, type MessageChunks } from '#providers/anthropic/native-chunks.ts';
import type { Chunk } from '#providers/port/completion.ts';
import type { ChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import { checkForError, errorOfFrame } from '#providers/errors/errors.ts';
import { createBodyReader } from '#providers/openai-compatible/event-body.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import { createEventReader } from '#providers/transport/sse.ts';

const BLANKS_MAX = 16;
/** Templates tried for one stream: one for each block, as a rule. */
const TEMPLATES_MAX = 64;

/** Reads the events of one stream of Messages. Nearly all of them are the delta before with another text, and are not parsed. */
export function createMessageEvents(): ChunkReader {
  const chunks = createMessageChunks();
  const runs = createDeltaRuns(chunks);

  function onEvent(data: string, raw: string, name: string | undefined): void {
    if (chunks.isDone() || (data.length <= BLANKS_MAX && data.trim() === '')) return;
    const event = parseJson(data);
    if (!isJsonObject(event)) {
      // Behind the end, a torn event takes nothing back (CC-11).
      if ((name !== undefined && !EVENTS.has(name)) || chunks.hasReason()) return;
      throw new UpstreamError('malformed', 'The provider sent a frame that is not JSON.');
    }
    if (isOther(event)) return;
    const { type } = event;
    if (typeof type !== 'string' || type === 'error') {
      if (chunks.isBilled()) return;
      checkForError(event);
      throw errorOfFrame(event);
    }
    chunks.take(type, event);
    if (type === 'content_block_delta') runs.learn(event, raw, data);
  }

  const events = createEventReader({
    onEvent,
    skim: (text, at) => {
      const found = chunks.isDone() ? undefined : runs.find(text, at);
      if (found === undefined) return at;
      chunks.takeRun(found.run);
      return found.end;
    },
  });
  const body = createBodyReader(events.feed);

  return {
    feed: body.feed,
    end: () => {
      body.end();
      events.end();
    },
    take: chunks.taken,
    isDone: chunks.isDone,
    isComplete: () => chunks.isDone() || chunks.hasReason(),
  };
}

/** The members of deltas that hold text. */
const TEXT_MEMBERS: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
]);

/** The template of the newest delta. */
function createDeltaRuns({ isCounted, ofDelta }: Pick<MessageChunks, 'isCounted' | 'ofDelta'>) {
  let template: TextTemplate<Chunk> | undefined;
  let tried = 0;
  return {
    find: (text: string, at: number) => template?.find(text, at),
    learn: (event: JsonObject, raw: string, data: string): void => {
      const delta = fieldsIn(event, 'delta');
      const { type } = delta;
      const name = DELTAS.has(type) ? TEXT_MEMBERS.get(type) : undefined;
      const text = name === undefined ? undefined : delta[name];
      // Of an empty text nobody knows where it stands, and a block that is not counted has no chunk.
      if (tried >= TEMPLATES_MAX || name === undefined || typeof text !== 'string' || text === '') return;
      if (!isCounted(event)) return;
      const withTexts = ([words = '']: readonly string[]): JsonObject => ({
        ...event,
        delta: { ...delta, [name]: words },
      });
      const next = textTemplateOf({
        raw,
        data,
        texts: [{ name, text }],
        isPadded: true, // By the vendor, with up to 15 blanks.
        withTexts,
        chunkOf: ofDelta,
      });
      if (next === undefined) return;
      template = next;
      tried += 1;
    },
  };
}

import { type ChunkPattern, patternOf as madePattern, TextRun } from '@purser/text-runs/text-run.ts';
import type { ErrorBody } from '@purser/contract/errors.ts';
import type { ReplyCall, ToldUsage } from '../../../packages/service/src/gateway/call/wire.ts';
import type {
  Echo,
  GivenTool,
  Sealing,
} from '../../../packages/service/src/gateway/wires/responses/conversation/echo.ts';
import { createReply } from '../../../packages/service/src/gateway/wires/responses/reply/reply.ts';
import { newCallId } from '../../../packages/service/src/kernel/values/ids.ts';
import type { JsonObject } from '../../../packages/service/src/kernel/text/json.ts';
import { type Micros, micros } from '../../../packages/service/src/kernel/values/micros.ts';
import type { Chunk, FinishReason } from '../../../packages/service/src/providers/port/completion.ts';

/** What a provider sends of one stream. */
export type Sent = Chunk | TextRun<Chunk>;

export function chunkOf(delta: JsonObject, reason: FinishReason | null = null, more: JsonObject = {}): Chunk {
  return { choices: [{ index: 0, delta, finish_reason: reason, ...more }], usage: undefined, extra: {} };
}

/** A chunk with events of a vendor who speaks the wire. */
export function nativeChunk(events: readonly JsonObject[], reason: FinishReason | null = null): Chunk {
  return { ...chunkOf({}, reason), native: events };
}

/** A run of chunks that differ in their text alone. */
export function runOf(
  chunkWith: (text: string, padding: string) => Chunk,
  texts: readonly string[],
  textCount = 1,
): TextRun<Chunk> {
  return runFor(patternOf(chunkWith, textCount), texts);
}

export function patternOf(chunkWith: (text: string, padding: string) => Chunk, textCount = 1): ChunkPattern<Chunk> {
  return madePattern(textCount, ([text = '', padding = '']) => chunkWith(text, padding));
}

export function runFor(pattern: ChunkPattern<Chunk>, texts: readonly string[]): TextRun<Chunk> {
  const escaped = texts.map((text) => JSON.stringify(text).slice(1, -1));
  const paddings = pattern.textCount > 1 ? [texts.map((_, place) => 'x'.repeat(place))] : [];
  const said = texts.join('');
  return new TextRun(pattern, [escaped, ...paddings], { said, bytes: Buffer.byteLength(said) });
}

export const TOLD: ToldUsage = {
  isReported: true,
  usage: {
    prompt_tokens: 21,
    completion_tokens: 13,
    total_tokens: 34,
    prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 5 },
  },
};
export const CHARGED: Micros = micros(4_321n);

export const callOfReply = (): ReplyCall => ({
  callId: newCallId(),
  model: { id: 'gpt-test' },
  outputTokensAsked: 100,
  wantsUsage: false,
  prompt: { tokensEstimated: 9 },
});

export function echoOf(settings: JsonObject = {}, tools: readonly (readonly [string, GivenTool])[] = []): Echo {
  return { settings, tools: new Map(tools) };
}

/** A sealing that shows what it sealed. */
export function openSealing(more: Partial<Sealing> = {}): Sealing {
  return {
    isStored: false,
    isCarried: false,
    ofItem: (item) => `${item['type'] === 'reasoning' ? 'rs' : 'msg'}_${packed({ item })}`,
    ofItems: (items) => `rs_${packed({ items })}`,
    ofThoughts: (details) => `purser.${packed({ details })}`,
    ...more,
  };
}

function packed(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** What `openSealing` sealed. */
export function unpacked(text: unknown): JsonObject {
  const body = String(text).replace(/^(?:rs_|msg_|purser\.)/, '');
  return JSON.parse(Buffer.from(body, 'base64url').toString()) as JsonObject;
}

interface Played {
  readonly echo?: Echo;
  readonly sealing?: Sealing;
  /** How the stream ends. */
  readonly how?: 'end' | 'cut' | ErrorBody;
  readonly isSilentFirst?: boolean;
}

/** All frames of one stream, as the gateway has them written. */
export function played(sent: readonly Sent[], options: Played = {}): string {
  const { echo = echoOf(), sealing = openSealing(), how = 'end', isSilentFirst = false } = options;
  const reply = createReply(echo, sealing);
  const stream = reply.stream(callOfReply());
  let frames = isSilentFirst ? stream.alive() : '';
  for (const one of sent) {
    if (one instanceof TextRun) frames += stream.writeRun(one) ?? one.chunks.map(stream.write).join('');
    else frames += stream.write(one);
  }
  if (typeof how === 'object') return frames + stream.fail(how);
  if (how === 'cut') frames += stream.cut([{ index: 0, delta: {}, finish_reason: 'length' }]);
  return (
    frames +
    reply.endFrames(
      stream.end(() => TOLD),
      CHARGED,
    )
  );
}

/** The events in frames, in their order. Throws if one is not as the format has it. */
export function eventsIn(frames: string): readonly JsonObject[] {
  const blocks = frames.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  return blocks.map((block) => {
    const [, name = '', data = ''] = /^event: (\S+)\ndata: (.*)$/s.exec(block) ?? [];
    const event = JSON.parse(data) as JsonObject;
    if (event['type'] !== name) throw new Error(`An event has two names: ${name} and ${String(event['type'])}.`);
    return event;
  });
}

import type { ErrorBody } from '@purser/contract/errors.ts';
import type { ReplyCall, StreamEnd, StreamReply, ToldUsage } from '#gateway/call/wire.ts';
import type { Echo, Sealing } from '#gateway/wires/responses/conversation/echo.ts';
import { createEvents, type Events } from '#gateway/wires/responses/items/events.ts';
import { tokensOf } from '#gateway/wires/responses/items/fields.ts';
import { type ItemStatus, itemEvent } from '#gateway/wires/responses/items/item-writer.ts';
import { createAnswerItems } from '#gateway/wires/responses/items/items.ts';
import { createNativeRelay } from '#gateway/wires/responses/reply/native.ts';
import { carriedItem } from '#gateway/wires/responses/items/pictures.ts';
import {
  CUT,
  endingOf,
  responseError,
  type ResponseEnding,
  responseHead,
  responseUsage,
  vendorFields,
} from '#gateway/wires/responses/reply/response.ts';
import { createRunWriter } from '#gateway/wires/responses/reply/runs.ts';
import { createOutputReader } from '#gateway/output/output-parts.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { type Micros, microsToWire } from '#kernel/values/micros.ts';
import type { Chunk, ChunkChoice } from '#providers/port/completion.ts';

/** The end of a stream, in two parts: the last event tells the charge, which is known later. */
interface ResponseStreamEnd extends StreamEnd {
  /** The frames before the last event. */
  readonly frames: string;
  /** The last event up to the charge. */
  readonly last: string;
}

/** Behind the charge, the Response and its event end. */
const AFTER_CHARGE = '}}\n\n';

export function createStreamReply(call: ReplyCall, echo: Echo, sealing: Sealing): StreamReply {
  const events = createEvents();
  const head = responseHead(call, echo);
  const items = createAnswerItems(events, call.callId.replaceAll('-', ''), echo, sealing);
  const native = createNativeRelay(events);
  const readOutput = createOutputReader();
  const runs = createRunWriter(events, { items, native, readOutput });
  const { begin, hasBegun, waiting } = createBeginning(events, head);
  let isNative = false;
  let ending: ResponseEnding | undefined;
  let cutFrames: string | undefined;
  let end: ResponseStreamEnd | undefined;

  function takeChoice({ delta, logprobs, finish_reason: reason }: ChunkChoice): string {
    const tokens = logprobs === undefined || logprobs === null ? [] : tokensOf(logprobs);
    let frames = '';
    for (const said of readOutput(delta)) frames += items.take(said, tokens);
    if (reason === null) return frames;
    ending ??= endingOf(reason);
    return frames + items.end(statusOf(ending));
  }

  function write({ choices, native: vendors, source }: Chunk): string {
    let frames = begin();
    isNative ||= vendors !== undefined;
    // The order of choices is theirs, and this wire has one.
    const choice = choices.find(({ index }) => index === 0);
    if (!isNative) return choice === undefined ? frames : frames + takeChoice(choice);
    if (choice !== undefined && choice.finish_reason !== null) ending ??= endingOf(choice.finish_reason);
    for (const event of vendors ?? []) frames += native.relay(event, source);
    return frames;
  }

  function endOf(told: ToldUsage): ResponseStreamEnd {
    let frames = begin();
    const vendor = cutFrames === undefined ? native.last() : undefined;
    ending ??= endingOf(null);
    const status = statusOf(ending);
    frames += isNative ? native.end(status) : items.end(status);
    const output = isNative ? native.finished() : items.finished();
    const carrier = sealing.isCarried ? carrierOf(output, sealing) : undefined;
    if (carrier !== undefined) frames += carrierFrames(events, isNative ? native.count() : output.length, carrier);
    const fields = { ...head, ...ending, ...(vendor && vendorFields(vendor)), usage: responseUsage(told) };
    const texts = carrier === undefined ? output : [...output, carrier];
    const response = `${JSON.stringify(fields).slice(0, -1)},"output":[${texts.join(',')}]}`;
    const event = events.write(`response.${fields.status}`, `,"response":${response}`);
    return { callId: call.callId, frames, last: event.slice(0, -AFTER_CHARGE.length) };
  }

  return {
    alive: () => begin() || waiting(),
    write,
    writeRun: (run) => (hasBegun() ? runs.write(run) : undefined),
    cut: (open) => {
      if (open.length === 0) return '';
      if (cutFrames === undefined) {
        cutFrames = begin();
        ending = CUT;
        cutFrames += isNative ? native.cut('incomplete') : items.end('incomplete');
      }
      return cutFrames;
    },
    end: (usage) => (end ??= endOf(usage())),
    fail: (envelope) => begin() + failed(events, head, envelope),
  };
}

/** The first events of a stream. The second of them says again that the answer is on its way, as often as it is sent. */
function createBeginning(events: Events, head: JsonObject) {
  const members = `,"response":${JSON.stringify({ ...head, status: 'in_progress', output: [], usage: null })}`;
  let isBegun = false;
  const waiting = (): string => events.write('response.in_progress', members);
  return {
    waiting,
    hasBegun: () => isBegun,
    /** Returns '' if the stream has begun. */
    begin: (): string => {
      if (isBegun) return '';
      isBegun = true;
      return events.write('response.created', members) + waiting();
    },
  };
}

/**
 * The last frames of a stream that was charged, also of one that was kept for a retry. The comment is the very end, so that it is
 * found without reading the event before it, which may be long.
 */
export function endFrames(end: StreamEnd, charged: Micros): string {
  const { callId, frames, last } = end as ResponseStreamEnd;
  const micros = microsToWire(charged);
  const charge = `: charge-micros=${micros} call-id=${callId}\n\n`;
  return `${frames}${last},"charge_micros":${micros}${AFTER_CHARGE}${charge}`;
}

/**
 * The end of a stream that failed. Agents show the words of `response.failed` and read no further. Libraries that gather texts take it for
 * a proper end, and raise the error that follows.
 */
function failed(events: Events, head: JsonObject, envelope: ErrorBody): string {
  const response = { ...head, status: 'failed', error: responseError(envelope), output: [], usage: null };
  const { code, message, param, type, correlationId } = envelope.error;
  // Where the vendor's types have these fields, and where the vendor itself sends them.
  const error = JSON.stringify({ code, message, param, error: { code, message, param, type, correlationId } }).slice(
    1,
    -1,
  );
  return (
    events.write('response.failed', `,"response":${JSON.stringify(response)}`) + events.write('error', `,${error}`)
  );
}

function statusOf({ status }: ResponseEnding): ItemStatus {
  return status === 'completed' ? 'completed' : 'incomplete';
}

/** The item that carries those of a stream: the client sends their ids in their place (WI-05). Calls of functions come back whole. */
function carrierOf(output: readonly string[], { ofItems }: Sealing): string | undefined {
  const items = output.map((text) => carriedItem(JSON.parse(text) as JsonObject));
  const carried = items.filter(({ type, id }) => type !== 'function_call' && typeof id === 'string');
  const id =
    carried.length === 0 ? undefined : ofItems(Object.fromEntries(carried.map((item) => [String(item['id']), item])));
  return id && JSON.stringify({ id, type: 'reasoning', summary: [] });
}

function carrierFrames(events: Events, outputIndex: number, carrier: string): string {
  return itemEvent(events, 'added', outputIndex, carrier) + itemEvent(events, 'done', outputIndex, carrier);
}

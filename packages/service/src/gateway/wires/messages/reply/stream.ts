import type { ErrorBody } from '@purser/contract/errors.ts';
import type { ReplyCall, StreamEnd, StreamReply, ToldUsage } from '#gateway/call/wire.ts';
import type { Echo } from '#gateway/wires/messages/conversation/echo.ts';
import { errorOf } from '#gateway/wires/messages/reply/error-body.ts';
import { eventFrame } from '#gateway/wires/messages/blocks/events.ts';
import { createBlocks } from '#gateway/wires/messages/blocks/blocks.ts';
import { createNativeRelay, type NativeRelay } from '#gateway/wires/messages/reply/native.ts';
import { begunUsage, countedUsage, messageHead, NO_STOP, stopOf } from '#gateway/wires/messages/reply/message.ts';
import { createRunWriter } from '#gateway/wires/messages/reply/runs.ts';
import { EVENTS } from '#gateway/wires/messages/blocks/sink.ts';
import { createOutputReader } from '#gateway/output/output-parts.ts';
import { type Micros, microsToWire } from '#kernel/values/micros.ts';
import type { ChunkChoice, FinishReason, UsageReport } from '#providers/port/completion.ts';

/** The end of a stream, up to the charge, which is known later. */
interface MessageStreamEnd extends StreamEnd {
  readonly frames: string;
  /** The event with the usage, up to the charge. */
  readonly last: string;
}

/** Behind the charge, an event ends. */
const AFTER_CHARGE = '}\n\n';
const PING = eventFrame('ping');
const STOP = eventFrame('message_stop');

export function createStreamReply(call: ReplyCall, echo: Echo): StreamReply {
  // One of the two is made, with the first chunk: the vendor's own events are relayed, and others are written from what they say.
  let native: NativeRelay | undefined;
  let written: Written | undefined;
  let hasBegun = false;
  let reason: FinishReason | null = null;
  let sequence: unknown;
  let cutFrames: string | undefined;
  let end: MessageStreamEnd | undefined;

  function begin(report?: UsageReport): string {
    if (hasBegun) return '';
    hasBegun = true;
    const message = { ...messageHead(call), content: [], ...NO_STOP, usage: begunUsage(call, report) };
    return eventFrame('message_start', `,"message":${JSON.stringify(message)}`);
  }

  function take(choice: ChunkChoice): string {
    const { blocks, readOutput } = (written ??= createWritten(echo));
    let frames = '';
    for (const said of readOutput(choice.delta)) frames += blocks.take(said);
    if (choice.finish_reason === null) return frames;
    reason ??= choice.finish_reason;
    sequence ??= choice['stop_reason'];
    return frames + blocks.end();
  }

  const endBlocks = (): string => native?.end() ?? written?.blocks.end() ?? '';

  function endOf(told: ToldUsage): MessageStreamEnd {
    const frames = begin() + endBlocks();
    const [hasCalls, hasRefused] = [written?.blocks.hasCalls() === true, written?.blocks.hasRefused() === true];
    const ended = { reason, sequence, hasCalls, hasRefused };
    const vendor = cutFrames === undefined ? native?.last() : undefined;
    const delta = {
      ...(vendor === undefined ? stopOf(ended, echo) : { ...NO_STOP, ...vendor.delta }),
      container: null,
    };
    const more = vendor === undefined ? '' : JSON.stringify(vendor.members).slice(1, -1);
    const beside = more === '' ? '' : `,${more}`;
    const members = `,"delta":${JSON.stringify(delta)},"usage":${JSON.stringify(countedUsage(told))}${beside}`;
    return { callId: call.callId, frames, last: eventFrame('message_delta', members).slice(0, -AFTER_CHARGE.length) };
  }

  return {
    alive: () => PING,
    write: ({ choices, usage, native: vendors }) => {
      const begun = begin(usage);
      if (vendors !== undefined || native !== undefined) {
        const { relay } = (native ??= createNativeRelay());
        return begun + (vendors ?? []).map(relay).join('');
      }
      // The order of choices is theirs, and this wire has one.
      const choice = choices.find(({ index }) => index === 0);
      return choice === undefined ? begun : begun + take(choice);
    },
    writeRun: (run) => (hasBegun ? (native ?? written)?.writeRun(run) : undefined),
    cut: (open) => {
      if (open.length === 0) return '';
      reason = 'length';
      return (cutFrames ??= begin() + endBlocks());
    },
    end: (usage) => (end ??= endOf(usage())),
    fail: failed,
  };
}

/** What writes the events of an answer by what it says. */
function createWritten(echo: Echo) {
  const blocks = createBlocks(EVENTS, echo);
  const readOutput = createOutputReader();
  return { blocks, readOutput, writeRun: createRunWriter(blocks, readOutput) };
}

type Written = ReturnType<typeof createWritten>;

/**
 * The last frames of a stream that was charged, also of one that was kept for a retry. The comment is the very end, so that it is found
 * without reading the events before it.
 */
export function endFrames(end: StreamEnd, charged: Micros): string {
  const { callId, frames, last } = end as MessageStreamEnd;
  const micros = microsToWire(charged);
  return `${frames}${last},"charge_micros":${micros}${AFTER_CHARGE}${STOP}: charge-micros=${micros} call-id=${callId}\n\n`;
}

function failed(envelope: ErrorBody): string {
  return `event: error\ndata: ${JSON.stringify(errorOf(envelope))}\n\n`;
}

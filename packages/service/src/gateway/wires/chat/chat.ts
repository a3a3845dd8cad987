import type { ErrorBody } from '@purser/contract/errors.ts';
import { TextRun } from '@purser/text-runs/text-run.ts';
import type { Fitted, Reply, ReplyCall, StreamReply, Wire, WireRequest } from '#gateway/call/wire.ts';
import { withoutEmptyLists } from '#gateway/parameters/parameters.ts';
import { checkShape } from '#gateway/request/validate-call.ts';
import { type ChatEnd, dataFrame, endFrames } from '#gateway/wires/chat/frames.ts';
import { answerSeen } from '#gateway/wires/chat/head.ts';
import { createStreamFrames } from '#gateway/wires/chat/stream-frames.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Chunk } from '#providers/port/completion.ts';
import { visibleChoices } from '#providers/answers/visible-fields.ts';

/** Chat completions: the form that all wires are read into, so there is nothing to translate (CC-01). */
export const chatWire: Wire = {
  name: 'chat',
  path: '/v1/chat/completions',
  takesLargeBodies: false,
  read: (body) => checkShape(body) ?? requestOf(withoutEmptyLists(body)),
  worded: (refusal) => refusal,
};

function requestOf(request: JsonObject): WireRequest & Fitted {
  return {
    model: String(request['model']),
    isStream: request['stream'] === true,
    request,
    leftOut: NOTHING,
    fit: itself,
    nameOf: asIs,
    reply: chatReply,
  };
}

const NOTHING: readonly string[] = [];

function itself(this: Fitted): Fitted {
  return this;
}

function asIs(path: string): string {
  return path;
}

/** A comment: the only thing that every client of the format accepts between two frames. */
const KEEP_ALIVE = ': keep-alive\n\n';

/** Writes the answers of chat completions. Usage is told if the provider reported any, and of a stream if the caller asked for it. */
export const chatReply: Reply = {
  plain: ({ callId, model }, { choices, extra }, { isReported, usage }) =>
    answerSeen(extra, callId, {
      choices: visibleChoices(choices),
      model: model.id,
      ...(isReported ? { usage } : {}),
    }),
  stream: streamReply,
  endFrames,
};

function streamReply(call: ReplyCall): StreamReply {
  const frames = createStreamFrames(call);
  let newest: Chunk | TextRun<Chunk> | undefined;

  function besideNewest(): JsonObject {
    if (newest === undefined) return frames.besideOf(NO_CHUNK);
    return frames.besideOf(newest instanceof TextRun ? newest.lastChunk : newest);
  }

  return {
    alive: () => KEEP_ALIVE,
    write: (chunk) => {
      newest = chunk;
      const beside = frames.besideOf(chunk);
      return chunk.usage !== undefined && chunk.choices.length === 0 ? '' : frames.write(beside, chunk.choices);
    },
    writeRun: (run) => {
      const written = frames.writeRun(run);
      if (written !== undefined) newest = run;
      return written;
    },
    cut: (open) => frames.write(besideNewest(), open),
    end: (usage): ChatEnd => {
      const { callId, model, wantsUsage } = call;
      if (!wantsUsage) return { callId };
      return { callId, usageChunk: { ...besideNewest(), model: model.id, choices: [], usage: usage().usage } };
    },
    fail: failureFrame,
  };
}

const NO_CHUNK: Chunk = { choices: [], usage: undefined, extra: {} };

/**
 * The error envelope, with a text as `choices`. Some clients know no `error`: they read every frame as a chunk, pass over what they
 * do not know, and would call the answer whole. A text in the place of the choices is a chunk to none of them.
 */
function failureFrame(envelope: ErrorBody): string {
  return dataFrame({ ...envelope, choices: envelope.error.message });
}

import type { ErrorBody } from '@purser/contract/errors.ts';
import { TextRun } from '@purser/text-runs/text-run.ts';
import type { ToldUsage } from '../../../packages/service/src/gateway/call/wire.ts';
import type { Echo } from '../../../packages/service/src/gateway/wires/messages/conversation/echo.ts';
import { createMessagesReply } from '../../../packages/service/src/gateway/wires/messages/reply/reply.ts';
import type { JsonObject } from '../../../packages/service/src/kernel/text/json.ts';
import type { FinishReason } from '../../../packages/service/src/providers/port/completion.ts';
import { callOfReply, CHARGED, eventsIn, type Sent, TOLD } from '../responses/streams.ts';

export function echoOf(more: Partial<Echo> = {}): Echo {
  return { model: 'acme', stopSequences: [], thinking: 'shown', ...more };
}

interface Played {
  readonly echo?: Echo;
  /** How the stream ends. */
  readonly how?: 'end' | 'cut' | ErrorBody;
  readonly isSilentFirst?: boolean;
}

/** All frames of one stream, as the gateway has them written. */
export function played(sent: readonly Sent[], { echo = echoOf(), how = 'end', isSilentFirst }: Played = {}): string {
  const reply = createMessagesReply(echo);
  const stream = reply.stream(callOfReply());
  let frames = isSilentFirst === true ? stream.alive() : '';
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

/** The events of one stream, without the charge in the comment. */
export function eventsOf(sent: readonly Sent[], options: Played = {}): readonly JsonObject[] {
  return eventsIn(played(sent, options));
}

/** A whole answer. */
export function plainOf(
  message: JsonObject,
  reason: FinishReason = 'stop',
  { echo = echoOf(), told = TOLD }: { readonly echo?: Echo; readonly told?: ToldUsage } = {},
): JsonObject {
  const choices = [{ index: 0, message, finish_reason: reason }];
  return createMessagesReply(echo).plain(callOfReply(), { choices, usage: undefined, extra: {} }, told);
}

/** What every Message here has beside what it says. */
export const MESSAGE = {
  type: 'message',
  role: 'assistant',
  model: 'gpt-test',
  container: null,
  diagnostics: null,
  stop_sequence: null,
  stop_details: null,
} as const;

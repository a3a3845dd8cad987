import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FrameWriter } from '#gateway/answer/answer.ts';
import type { StreamReply } from '#gateway/call/wire.ts';
import { envelopeOf, faultRefusal } from '#http/answers/envelope.ts';
import { failpoint } from '#kernel/faults/failpoint.ts';
import type { CorrelationId } from '#kernel/values/ids.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';

/** A reader that takes nothing holds up its provider's stream. After this long we treat it as gone. */
const STALLED_MS_MAX = 60_000;

/** The writer for a stream whose caller can no longer be answered. The stream still runs to its end and is charged. */
export const NO_READER: FrameWriter = { write: () => undefined, end: () => undefined, fail: () => undefined };

/** A port, so that `app/compose.ts` can put failpoints around the writers that it opens. */
export interface FrameWriters {
  readonly open: (response: ServerResponse, correlationId: CorrelationId) => FrameWriter;
}

/**
 * Writes whole frames into an answer whose head has been written. Each function returns a promise if the caller cannot
 * take more yet. The promise resolves when the caller can, or when it has left: a caller who takes nothing for 60 s has.
 */
export function createFrameWriter(response: ServerResponse, correlationId: CorrelationId): FrameWriter {
  let hasBegun = false;

  function write(frames: string): Promise<void> | undefined {
    if (response.destroyed) return undefined;
    const { socket } = response;
    // Node writes the head together with the first frames, so those must go through `response.write`.
    const isDirect = hasBegun && socket !== null && isUpToDate(response, socket);
    hasBegun = true;
    if (!isDirect) return response.write(frames) ? undefined : drained(response, response);
    return writeChunk(socket, frames) ? undefined : drained(response, socket);
  }

  function end(frames: string): Promise<void> | undefined {
    const { socket } = response;
    const isDirect = hasBegun && socket !== null && isUpToDate(response, socket);
    if (isDirect && !response.destroyed) {
      socket.cork(); // So that the last frames and the end of the body leave in one write.
      writeChunk(socket, frames);
    }
    if (isDirect || response.destroyed) response.end();
    else response.end(frames, encodingOf(frames, Buffer.byteLength(frames)));
    return socket?.writableNeedDrain === true ? drained(response, socket) : undefined;
  }

  /** The status is out already, so the caller learns of the failure from this frame alone (ER-06). */
  function fail(frames: string, refusal: Refusal | undefined, written: StreamReply['fail']): Promise<void> | undefined {
    return end(frames + written(envelopeOf(refusal ?? faultRefusal(), correlationId)));
  }

  return { write, end, fail };
}

/** Returns true if the next byte on the connection is the next byte of this answer, and the body is sent in chunks. */
function isUpToDate(response: ServerResponse, socket: Socket): boolean {
  return response.chunkedEncoding && socket.writable && response.writableLength === socket.writableLength;
}

/**
 * Writes frames as one chunk of the body. `response.write` does the same in four pieces, which Node puts together at the
 * end of the turn: that costs about three times as much.
 */
function writeChunk(socket: Socket, frames: string): boolean {
  const bytes = Buffer.byteLength(frames);
  return socket.write(`${bytes.toString(16)}\r\n${frames}\r\n`, encodingOf(frames, bytes));
}

/**
 * Chooses `latin1` where it can, which copies text of one byte a character as it lies in memory, without encoding it.
 */
function encodingOf(frames: string, bytes: number): 'latin1' | 'utf8' {
  return bytes === frames.length ? 'latin1' : 'utf8';
}

async function drained(response: ServerResponse, way: ServerResponse | Socket): Promise<void> {
  failpoint('chat.write-full');
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => response.destroy(), STALLED_MS_MAX);
    const goOn = () => {
      clearTimeout(timer);
      way.off('drain', goOn);
      response.off('close', goOn);
      resolve();
    };
    way.on('drain', goOn);
    response.on('close', goOn);
  });
  failpoint('chat.write-drained');
}

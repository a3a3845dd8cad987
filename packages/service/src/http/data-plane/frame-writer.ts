import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FrameWriter } from '#gateway/answer/answer.ts';
import { failpoint } from '#kernel/failpoint.ts';

/** A reader that stands still holds its provider's stream; after so long it is treated as gone. */
const STALLED_MS_MAX = 60_000;

/** For a stream of which nothing can be told any more. */
export const NO_READER: FrameWriter = { write: () => undefined, end: () => undefined };

/**
 * Writes whole frames into an answer whose head was given. What it returns resolves when the caller can take more, or will
 * never: one that takes nothing for too long has left. Undefined where that is so at once.
 */
export function createFrameWriter(response: ServerResponse): FrameWriter {
  let hasBegun = false;

  function write(frames: string): Promise<void> | undefined {
    if (response.destroyed) return undefined;
    const { socket } = response;
    // The head leaves with the first frames.
    const isDirect = hasBegun && socket !== null && isUpToDate(response, socket);
    hasBegun = true;
    if (!isDirect) return response.write(frames) ? undefined : drained(response, response);
    return writeChunk(socket, frames) ? undefined : drained(response, socket);
  }

  function end(frames: string): Promise<void> | undefined {
    const { socket } = response;
    const isDirect = hasBegun && socket !== null && isUpToDate(response, socket);
    if (isDirect && !response.destroyed) {
      socket.cork(); // The last frames and the end of the body leave in one write.
      writeChunk(socket, frames);
    }
    response.end(isDirect || response.destroyed ? undefined : frames);
    return socket?.writableNeedDrain === true ? drained(response, socket) : undefined;
  }

  return { write, end };
}

/** Whether the next byte of the connection is the next of this answer, and its body goes in chunks. */
function isUpToDate(response: ServerResponse, socket: Socket): boolean {
  return response.chunkedEncoding && socket.writable && response.writableLength === socket.writableLength;
}

/**
 * Writes frames as one chunk of the body, as `response.write` would, but in one piece: its four pieces, put together at the
 * end of the turn, cost about three times as much.
 */
function writeChunk(socket: Socket, frames: string): boolean {
  const bytes = Buffer.byteLength(frames);
  // Text of one byte a character is written as it lies in memory.
  return socket.write(`${bytes.toString(16)}\r\n${frames}\r\n`, bytes === frames.length ? 'latin1' : 'utf8');
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

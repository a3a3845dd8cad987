import { isUtf8 } from 'node:buffer';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { createMessageEvents } from '#providers/anthropic/native-events.ts';
import { checkForAwsError, eventOfException } from '#providers/bedrock/failures.ts';
import type { ChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import { createBodyReader, noStream } from '#providers/openai-compatible/event-body.ts';
import { UpstreamError } from '#providers/port/provider.ts';

/** No honest frame comes near it, and our memory must end somewhere. */
const FRAME_BYTES_MAX = 1024 * 1024;
const LENGTH_BYTES = 4;
/** Two lengths with a checksum, and the checksum of all. */
const FRAME_BYTES_MIN = 16;

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

/**
 * Reads Messages in AWS's binary frames, of which each byte comes as one character. The events in them are given to the reader of
 * Anthropic's own streams.
 */
export function createFrameReader(): ChunkReader {
  const messages = createMessageEvents();
  /** JSON in the place of frames is an error. */
  const body = createBodyReader(() => {
    throw noStream();
  }, checkForAwsError);
  let isFrames: boolean | undefined;
  let isOver = false;
  let waiting = '';
  let wanted = LENGTH_BYTES;

  /** The events of the frames that have arrived. A frame that cannot be read ends them with its failure. */
  function takeEvents(): { readonly events: string; readonly failure?: UpstreamError } {
    let [events, at] = ['', 0];
    for (;;) {
      const left = waiting.length - at;
      if (left >= LENGTH_BYTES) wanted = lengthAt(waiting, at);
      if (wanted > FRAME_BYTES_MAX || (left >= LENGTH_BYTES && wanted < FRAME_BYTES_MIN)) {
        return { events, failure: new UpstreamError('too-large', 'The provider sent too large an event.') };
      }
      if (left < wanted || left < LENGTH_BYTES) break;
      const event = eventIn(Buffer.from(waiting.slice(at, at + wanted), 'latin1'));
      if (typeof event !== 'string') return { events, failure: event };
      events += event;
      at += wanted;
      wanted = LENGTH_BYTES;
    }
    waiting = waiting.slice(at);
    return { events };
  }

  function feed(text: string): void {
    if (isOver || text === '') return;
    // A frame is shorter than 16 MiB, so the first byte of its length is 0.
    isFrames ??= text.startsWith('\0');
    if (!isFrames) return body.feed(text);
    waiting += text;
    // A long frame is looked at once it has arrived.
    if (waiting.length < wanted) return;
    const { events, failure } = takeEvents();
    if (events !== '') messages.feed(events);
    if (failure === undefined) return;
    isOver = true;
    // Behind the end, a torn frame takes nothing back (CC-11).
    if (!messages.isComplete()) throw failure;
  }

  return {
    feed,
    end: () => {
      body.end();
      messages.end();
    },
    take: messages.take,
    isDone: messages.isDone,
    isComplete: messages.isComplete,
  };
}

function lengthAt(text: string, at: number): number {
  let length = 0;
  for (let place = at; place < at + LENGTH_BYTES; place += 1) length = length * 256 + text.charCodeAt(place);
  return length;
}

/** What a frame says, as text of an event stream. */
function eventIn(frame: Buffer): string | UpstreamError {
  try {
    const { headers, body } = codec.decode(frame);
    const textOf = (name: string): string => String(headers[name]?.value ?? '');
    const said = parseJson(Buffer.from(body).toString('utf8'));
    const kind = textOf(':message-type');
    if (kind !== 'event') {
      const code = kind === 'exception' ? textOf(':exception-type') : textOf(':error-code');
      const message = isJsonObject(said) ? said['message'] : undefined;
      return framed(JSON.stringify(eventOfException(code, typeof message === 'string' ? message : '')));
    }
    const bytes = isJsonObject(said) ? said['bytes'] : undefined;
    // Frames of other types say nothing of the answer.
    if (textOf(':event-type') !== 'chunk' || typeof bytes !== 'string') return '';
    const json = Buffer.from(bytes, 'base64');
    // Invalid bytes are refused, not replaced: a caller would pay for garbled text.
    return isUtf8(json) ? framed(json.toString('utf8')) : broken();
  } catch {
    return broken();
  }
}

function broken(): UpstreamError {
  return new UpstreamError('malformed', 'The provider sent a frame that cannot be read.');
}

/** A line break in JSON is a blank, and would end a line of the event. */
function framed(json: string): string {
  return `data: ${json.replaceAll(/[\r\n]+/g, ' ')}\n\n`;
}

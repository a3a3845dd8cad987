import { isShortFrame, piecesOf } from '#gateway/output/frame-length.ts';
import { fillTemplate, type FrameTemplate, SEQUENCE_MARK } from '#gateway/wires/responses/items/event-template.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** Writes the events of one stream, each under the next sequence number. */
export interface Events {
  /** An event. Its members are JSON, with the comma before the first. */
  readonly write: (type: string, members: string) => string;
  /** The event of a delta, from its text as JSON writes it between quotes. One that is too long for clients is several. */
  readonly delta: (words: DeltaWords, escaped: string) => string;
  /** An event of a vendor, with its own members. A delta that is too long for clients is several. */
  readonly relay: (event: JsonObject) => string;
  /** Events of a vendor as they came, in one string. Undefined if their numbers are not the next ones: then they are written anew. */
  readonly asTheyCame: (source: string, number: unknown, count: number) => string | undefined;
  /** One event for each text, in one string. */
  readonly fill: (template: FrameTemplate, texts: readonly (readonly string[])[]) => string;
}

/** The event of a delta: its type, and its members before and behind the text. */
export interface DeltaWords {
  readonly type: string;
  readonly before: string;
  readonly after: string;
}

export function createEvents(): Events {
  let sequence = 0;

  function write(type: string, members: string): string {
    const frame = `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence}${members}}\n\n`;
    sequence += 1;
    return frame;
  }

  function relayWhole(event: JsonObject): string {
    const frame = vendorFrame(event, sequence);
    sequence += 1;
    return frame;
  }

  return {
    write,
    delta: ({ type, before, after }, escaped) => {
      if (isShortFrame(escaped)) return write(type, `${before}${escaped}${after}`);
      const pieces = piecesOf(JSON.parse(`"${escaped}"`) as string);
      return pieces.map((piece) => write(type, `${before}${escapedOf(piece)}${after}`)).join('');
    },
    relay: (event) => {
      const { delta } = event;
      if (typeof delta !== 'string' || isShortFrame(delta)) return relayWhole(event);
      return piecesOf(delta)
        .map((piece) => relayWhole({ ...event, delta: piece }))
        .join('');
    },
    asTheyCame: (source, number, count) => {
      if (number !== sequence) return undefined;
      sequence += count;
      return source;
    },
    fill: (template, texts) => {
      const frames = fillTemplate(template, texts, sequence);
      sequence += texts[0]?.length ?? 0;
      return frames;
    },
  };
}

/** Writes nothing: the items of a whole answer are made like those of a stream. */
export const NO_EVENTS: Events = {
  write: nothing,
  delta: nothing,
  relay: nothing,
  asTheyCame: nothing,
  fill: nothing,
};

function nothing(): string {
  return '';
}

/** The event of a delta with marks in the places of its sequence number and its texts. */
export function markedDelta({ type, before, after }: DeltaWords, mark: string): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":"${SEQUENCE_MARK}"${before}${mark}${after}}\n\n`;
}

export function markedVendorEvent(event: JsonObject): string {
  return vendorFrame(event, SEQUENCE_MARK);
}

function vendorFrame(event: JsonObject, sequence: number | string): string {
  const type = String(event['type']);
  return `event: ${type}\ndata: ${JSON.stringify({ ...event, sequence_number: sequence })}\n\n`;
}

/** A text as JSON writes it between quotes. */
export function escapedOf(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

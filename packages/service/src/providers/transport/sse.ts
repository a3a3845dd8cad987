import { createParser } from 'eventsource-parser';
import { ANSWER_BYTES_MAX, UpstreamError } from '#providers/port/provider.ts';

const EVENT_CHARACTERS_MAX = 1024 * 1024;
const END_OF_EVENT = '\n\n';
const OTHER_END = '\r\n\r\n';
/** A chunk names its choices near its beginning, and a picture in it begins behind its text. */
const OPENING_CHARACTERS_MAX = 128 * 1024;
/**
 * What a picture or a recording in a chunk begins with, and events of Responses that repeat the request or the whole answer. Such an
 * event may be as long as a plain answer.
 */
const LONG =
  /["(]data:(?:image|audio)\/|"inlineData"|"type"\s*:\s*"response\.(?:created|queued|in_progress|output_item\.done|completed|incomplete)"/;
/** What a chunk of an answer has, in the compatible format, in Gemini's and in Responses. */
const OF_ANSWER = /"(?:choices|candidates)"|"type"\s*:\s*"response\./;

/**
 * Reads server-sent events from text that is cut anywhere. If an event is longer than 1 MiB, or 16 MiB with a picture or a whole answer in it, it
 * throws an `UpstreamError`: `too-large` for a chunk, else `malformed`.
 */
interface EventReader {
  readonly feed: (text: string) => void;
  /** The body has ended. A last event without its blank line counts: some providers end that way. */
  readonly end: () => void;
}

interface EventTaker {
  /** Is called with the `data` of each event, with its text, or the last part of it if it came in several reads, and with its name. */
  readonly onEvent: (data: string, raw: string, name: string | undefined) => void;
  /**
   * Is called at the beginning of each event. It may handle events itself and return the offset behind them. If it
   * returns `at`, the event is parsed.
   */
  readonly skim: (text: string, at: number) => number;
}

export function createEventReader({ onEvent, skim }: EventTaker): EventReader {
  let raw = '';
  /** The beginning of the event that is being read, and how long it is so far. */
  let opening = '';
  let characters = 0;
  const parser = createParser({
    onEvent: ({ data, event }) => {
      characters = 0;
      onEvent(data, raw, event);
    },
  });
  /** This is true behind a blank line. The parser then holds nothing, so `skim` may handle the next event. */
  let isBetween = false;

  function parse(text: string): void {
    raw = text;
    characters += text.length;
    parser.feed(text);
    const end = isBetween ? -1 : text.lastIndexOf(OTHER_END);
    if (end !== -1) begin(text.slice(end + OTHER_END.length));
    if (characters <= EVENT_CHARACTERS_MAX || (characters <= ANSWER_BYTES_MAX && LONG.test(opening))) return;
    if (OF_ANSWER.test(opening)) throw new UpstreamError('too-large', 'The provider sent too large a chunk.');
    throw new UpstreamError('malformed', 'The provider sent an event without an end.');
  }

  /** A new event begins with this text. */
  function begin(text: string): void {
    opening = text.slice(0, OPENING_CHARACTERS_MAX);
    characters = text.length;
  }

  return {
    feed: (text) => {
      for (let at = 0; at < text.length; ) {
        const skimmed = isBetween ? skim(text, at) : at;
        if (skimmed > at) {
          at = skimmed;
          continue;
        }
        if (isBetween) begin('');
        const end = text.indexOf(END_OF_EVENT, at);
        isBetween = end !== -1;
        const next = isBetween ? end + END_OF_EVENT.length : text.length;
        if (opening.length < OPENING_CHARACTERS_MAX)
          opening += text.slice(at, Math.min(next, at + OPENING_CHARACTERS_MAX));
        parse(text.slice(at, next));
        at = next;
      }
    },
    end: () => parse(END_OF_EVENT),
  };
}

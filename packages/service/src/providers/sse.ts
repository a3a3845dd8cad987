import { createParser } from 'eventsource-parser';
import { UpstreamError } from '#providers/provider.ts';

const EVENT_CHARACTERS_MAX = 1024 * 1024;
const END_OF_EVENT = '\n\n';

/** Reads server-sent events out of text as it comes, cut anywhere. Throws `UpstreamError` on an event without an end. */
interface EventReader {
  readonly feed: (text: string) => void;
  /** No more comes: a last event needs no blank line after it, some providers end so. */
  readonly end: () => void;
}

interface EventTaker {
  /** Told of each event: its `data`, and the text that it came in, as far as that came at once. */
  readonly onEvent: (data: string, raw: string) => void;
  /** Asked at the beginning of each event: takes it itself and gives the place behind it, or gives `at`. */
  readonly skim: (text: string, at: number) => number;
}

export function createEventReader({ onEvent, skim }: EventTaker): EventReader {
  let raw = '';
  let isOverflowing = false;
  const parser = createParser({
    maxBufferSize: EVENT_CHARACTERS_MAX,
    onEvent: ({ data }) => onEvent(data, raw),
    onError: ({ type }) => {
      isOverflowing ||= type === 'max-buffer-size-exceeded';
    },
  });
  /** Behind a blank line: the parser holds nothing, and what comes next is an event of its own. */
  let isBetween = false;

  function parse(text: string): void {
    raw = text;
    parser.feed(text);
    if (isOverflowing) throw new UpstreamError('malformed', 'The provider sent an event without an end.');
  }

  return {
    feed: (text) => {
      for (let at = 0; at < text.length; ) {
        const skimmed = isBetween ? skim(text, at) : at;
        if (skimmed > at) {
          at = skimmed;
          continue;
        }
        const end = text.indexOf(END_OF_EVENT, at);
        isBetween = end !== -1;
        const next = isBetween ? end + END_OF_EVENT.length : text.length;
        parse(text.slice(at, next));
        at = next;
      }
    },
    end: () => parse(END_OF_EVENT),
  };
}

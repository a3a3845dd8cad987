import { createParser } from 'eventsource-parser';
import { UpstreamError } from '#providers/provider.ts';

const EVENT_CHARACTERS_MAX = 1024 * 1024;

/** The events in a stream of server-sent events, whose text comes in pieces cut anywhere. */
interface EventReader {
  /** The `data` of each event that this piece ends. Throws `UpstreamError` when one has no end. */
  readonly feed: (text: string) => readonly string[];
  /** The same for what is left when no more comes. */
  readonly end: () => readonly string[];
}

export function createEventReader(): EventReader {
  let events: string[] = [];
  let isOverflowing = false;
  const parser = createParser({
    maxBufferSize: EVENT_CHARACTERS_MAX,
    onEvent: ({ data }) => events.push(data),
    onError: ({ type }) => {
      isOverflowing ||= type === 'max-buffer-size-exceeded';
    },
  });
  const feed = (text: string): readonly string[] => {
    events = [];
    parser.feed(text);
    if (isOverflowing) throw new UpstreamError('malformed', 'The provider sent an event without an end.');
    return events;
  };
  // A last event without the blank line after it: some providers end so.
  return { feed, end: () => feed('\n\n') };
}

import { createParser } from 'eventsource-parser';
import { UpstreamError } from '#providers/provider.ts';

const EVENT_CHARACTERS_MAX = 1024 * 1024;

/** The `data` of each event in a stream of server-sent events, an array for each read that completed at least one. */
export async function* readEvents(body: AsyncIterable<Buffer>): AsyncGenerator<readonly string[], void, undefined> {
  let events: string[] = [];
  let isOverflowing = false;
  const parser = createParser({
    maxBufferSize: EVENT_CHARACTERS_MAX,
    onEvent: ({ data }) => events.push(data),
    onError: ({ type }) => {
      isOverflowing ||= type === 'max-buffer-size-exceeded';
    },
  });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const bytes of body) {
    parser.feed(decode(decoder, bytes));
    if (isOverflowing) throw new UpstreamError('malformed', 'The provider sent an event without an end.');
    if (events.length === 0) continue;
    yield events;
    events = [];
  }
  // A last event without the blank line after it: some providers end so.
  parser.feed('\n\n');
  if (events.length > 0) yield events;
}

/** Decodes across reads: a character may be split at any byte. */
function decode(decoder: TextDecoder, bytes: Buffer): string {
  try {
    return decoder.decode(bytes, { stream: true });
  } catch (fault) {
    throw new UpstreamError('malformed', 'The provider sent bytes that are not UTF-8.', { cause: fault });
  }
}

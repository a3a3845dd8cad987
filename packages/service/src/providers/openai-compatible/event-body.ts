import { parseJson } from '#kernel/text/json.ts';
import { checkForError } from '#providers/errors/errors.ts';
import { UpstreamError } from '#providers/port/provider.ts';

/** The most of a body that is JSON instead of events. Errors are short. */
const BODY_CHARACTERS_MAX = 64 * 1024;

/** Tells events from a body that is JSON: some providers answer a streamed request with a plain error, and status 200. */
export function createBodyReader(feedEvents: (text: string) => void, check: (body: unknown) => void = checkForError) {
  let isEvents = false;
  let text = '';
  return {
    feed: (more: string): void => {
      if (isEvents) {
        feedEvents(more);
        return;
      }
      // Blanks before it say nothing, and are not kept: a server could send them for ever.
      text = text === '' ? more.trimStart() : text + more;
      const [first] = text;
      if (first === '{' || first === '[') {
        if (text.length > BODY_CHARACTERS_MAX) throw noStream();
      } else if (first !== undefined) {
        isEvents = true;
        feedEvents(text);
        text = '';
      }
    },
    end: (): void => {
      if (text.trim() === '') return;
      check(parseJson(text));
      throw noStream();
    },
  };
}

export function noStream(): UpstreamError {
  return new UpstreamError('malformed', 'The provider answered a streamed request with something else.');
}

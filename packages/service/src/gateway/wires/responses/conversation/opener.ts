import type { AskedBy } from '#gateway/call/wire.ts';
import type { Opened, SealedIds } from '#gateway/wires/responses/conversation/sealed-ids.ts';
import { PLAIN_ID_CHARACTERS_MAX } from '#gateway/wires/responses/conversation/sealed-ids.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** Opens what one request holds of sealed texts, within bounds. Beyond them it opens nothing more. */
export interface Opener {
  readonly open: (id: string) => Opened | undefined;
  readonly openThoughts: (content: string) => readonly JsonObject[] | undefined;
  /** Whether an `encrypted_content` is from here. */
  readonly isThoughts: (content: string) => boolean;
  /** Whether the request holds more than is opened. */
  readonly isSpent: () => boolean;
}

/** So much JSON may come out of all sealed texts of a request: a kilobyte may open to a thousand times of that. */
const OPENED_BYTES_MAX = 16 * 1024 * 1024;
/** So many are tried. Each takes about 10 microseconds, also one that is not from here. */
const TRIES_MAX = 4_096;

export function createOpener(sealedIds: SealedIds, by: AskedBy): Opener {
  let bytesLeft = OPENED_BYTES_MAX;
  let triesLeft = TRIES_MAX;
  let isSpent = false;

  function within<Result extends { readonly bytes: number }>(open: () => Result | undefined): Result | undefined {
    triesLeft -= 1;
    isSpent ||= triesLeft < 0;
    const opened = isSpent ? undefined : open();
    bytesLeft -= opened?.bytes ?? 0;
    isSpent ||= bytesLeft < 0;
    return isSpent ? undefined : opened;
  }

  return {
    open: (id) => (id.length <= PLAIN_ID_CHARACTERS_MAX ? undefined : within(() => sealedIds.open(id, by))),
    openThoughts: (content) => {
      if (!sealedIds.isThoughts(content)) return undefined;
      return within(() => sealedIds.openThoughts(content, by))?.details;
    },
    isThoughts: sealedIds.isThoughts,
    isSpent: () => isSpent,
  };
}

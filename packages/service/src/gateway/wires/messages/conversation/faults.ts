import type { ValueFault } from '#gateway/parameters/values.ts';
import { isJsonObject } from '#kernel/text/json.ts';

export function isFault(read: unknown): read is ValueFault {
  return isJsonObject(read) && 'expects' in read && 'path' in read;
}

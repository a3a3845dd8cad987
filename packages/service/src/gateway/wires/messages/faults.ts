import type { ValueFault } from '#gateway/request/parameter-values.ts';
import { isJsonObject } from '#kernel/json.ts';

export function isFault(read: unknown): read is ValueFault {
  return isJsonObject(read) && 'expects' in read && 'path' in read;
}

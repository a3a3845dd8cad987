import { randomBytes } from 'node:crypto';
import type { CallId } from '../../packages/service/src/kernel/values/ids.ts';

/** The id of a call that began at this moment by the clock of its gateway. */
export function callIdAt(at: Date): CallId {
  const time = at.getTime().toString(16).padStart(12, '0');
  const rest = randomBytes(8).toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(4)}` as CallId;
}

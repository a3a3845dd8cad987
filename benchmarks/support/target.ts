import type { BookKeeper } from './books.ts';
import type { Load } from './wrk.ts';

/** Something that calls are sent to, and the processes that this costs. */
export interface Target {
  readonly name: string;
  readonly load: Load;
  /** The process whose tree answers. */
  readonly pid: number;
  /** That of the database, where calls are charged. */
  readonly databasePid?: number;
  /** Where calls are charged. */
  readonly books?: BookKeeper;
  /** Where the usual warm-up before the first round is too short. */
  readonly firstWarmUpSeconds?: number;
}

/** Names of targets, as goals refer to them. */
export const DIRECT = 'direct';
export const NGINX = 'nginx';
export const LIVE = 'Purser live';
export const BESIDE = 'Purser (beside)';
export const PORTKEY = 'Portkey';
export const FERROGW = 'ferrogw';

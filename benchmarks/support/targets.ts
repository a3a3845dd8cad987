import type { Bench } from '../measure.ts';
import { EXPECTED_TEXT } from '../upstream/answers.ts';
import { bodyOf, CHAT_PATH } from './call.ts';
import type { Ground } from './ground.ts';
import type { Load } from './wrk.ts';

/** Something that calls are sent to, and the processes that this costs. */
export interface Target {
  readonly name: string;
  readonly load: Load;
  /** The process whose tree answers. */
  readonly pid: number;
  /** That of the database, where calls are charged. */
  readonly databasePid?: number;
  /** Calls are charged for in the books. */
  readonly isCharged?: boolean;
}

/** Direct, nginx and the service by both kinds of key, for calls that are plain or streamed. */
export function targetsOf(bench: Bench, ground: Ground, stream: boolean): readonly Target[] {
  const { upstream, nginx, service, database, apps, users } = ground;
  const common = { path: CHAT_PATH, body: bodyOf({ stream }), users, expected: EXPECTED_TEXT };
  const liveKeys = apps.map(({ liveKey }) => liveKey);
  const proxied = { ...common, keys: liveKeys };
  const targets: Target[] = [{ name: 'direct', load: { ...proxied, url: upstream.ready }, pid: upstream.pid }];
  if (nginx === undefined) bench.missing('nginx', 'apt-get install nginx-light');
  else {
    const url = stream ? nginx.unbufferedUrl : nginx.url;
    targets.push({ name: 'nginx', load: { ...proxied, url }, pid: nginx.pid });
  }
  const own = { pid: service.pid, databasePid: database.pid };
  targets.push(
    { name: 'Purser live', load: { ...proxied, url: service.ready }, ...own, isCharged: true },
    {
      name: 'Purser sandbox',
      load: { ...common, url: service.ready, keys: apps.map(({ testKey }) => testKey), expected: '"choices"' },
      ...own,
    },
  );
  return targets;
}

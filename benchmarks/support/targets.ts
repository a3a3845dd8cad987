import type { Bench } from '../measure.ts';
import { EXPECTED_TEXT } from '../upstream/answers.ts';
import { bodyOf, CHAT_PATH } from './call.ts';
import type { Ground } from './ground.ts';
import { portkeyHeaders } from './portkey.ts';
import type { Load } from './wrk.ts';

const STREAM_END = 'data: [DONE]';
/** In every answer that the sandbox makes up. */
const SANDBOX_TEXT = '"finish_reason":"stop"';

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
export function targetsOf(ground: Ground, stream: boolean): readonly Target[] {
  const { upstream, nginx, service, database, apps } = ground;
  const common = loadOf(ground, stream);
  const liveKeys = apps.map(({ liveKey }) => liveKey);
  const proxied = { ...common, keys: liveKeys };
  const targets: Target[] = [{ name: 'direct', load: { ...proxied, url: upstream.ready }, pid: upstream.pid }];
  if (nginx !== undefined) {
    const url = stream ? nginx.unbufferedUrl : nginx.url;
    targets.push({ name: 'nginx', load: { ...proxied, url }, pid: nginx.pid });
  }
  const own = { pid: service.pid, databasePid: database.pid };
  targets.push(
    { name: 'Purser live', load: { ...proxied, url: service.ready }, ...own, isCharged: true },
    {
      name: 'Purser sandbox',
      load: {
        ...common,
        url: service.ready,
        keys: apps.map(({ testKey }) => testKey),
        ...(stream ? {} : { expected: SANDBOX_TEXT }),
      },
      ...own,
    },
  );
  return targets;
}

/** The same, and another vendor's gateway. */
export async function targetsWithPeers(bench: Bench, ground: Ground, stream: boolean): Promise<readonly Target[]> {
  const targets = targetsOf(ground, stream);
  const portkey = await ground.portkey();
  if (portkey === undefined) {
    bench.missing('@portkey-ai/gateway', 'it comes from the npm registry, which could not be reached');
    return targets;
  }
  const load = {
    ...loadOf(ground, stream),
    url: portkey.url,
    keys: ground.apps.map(({ liveKey }) => liveKey),
    headers: portkeyHeaders(ground.upstream.ready),
  };
  return [...targets, { name: 'Portkey', load, pid: portkey.pid }];
}

/** The end of a stream proves that all of it came. */
function loadOf({ users }: Ground, stream: boolean): Omit<Load, 'url' | 'keys'> {
  return { path: CHAT_PATH, body: bodyOf({ stream }), users, expected: stream ? STREAM_END : EXPECTED_TEXT };
}

import { EXPECTED_TEXT, STREAM_END } from '../upstream/answers.ts';
import { bodyOf, CHAT_PATH } from './call.ts';
import type { Ground } from './ground.ts';
import { liveTargetOf } from './live-target.ts';
import { DIRECT, NGINX, type Target } from './target.ts';
import type { Load } from './wrk.ts';

/** This text is in every answer that the sandbox makes up. */
const SANDBOX_TEXT = '"finish_reason":"stop"';

/** The upstream itself, nginx, and every Purser by live keys, for calls that are plain or streamed. */
export function targetsOf(ground: Ground, stream: boolean): readonly Target[] {
  const { upstream, nginx, pursers } = ground;
  const proxied = { ...loadOf(ground, stream), keys: ground.apps.map(({ liveKey }) => liveKey) };
  const targets: Target[] = [{ name: DIRECT, load: { ...proxied, url: upstream.ready }, pid: upstream.pid }];
  if (nginx !== undefined) {
    const url = stream ? nginx.unbufferedUrl : nginx.url;
    targets.push({ name: NGINX, load: { ...proxied, url }, pid: nginx.pid });
  }
  return [...targets, ...pursers.map((purser) => liveTargetOf({ ...purser, stream }))];
}

/**
 * The same service by test keys. None beside an older checkout: the sums and checks of these calls are made a little later, in
 * the rounds of the live keys, and only this checkout would have them.
 */
export function sandboxTargetsOf(ground: Ground, stream: boolean): readonly Target[] {
  const { service, database, apps, pursers } = ground;
  if (pursers.length > 1) return [];
  const load = loadOf(ground, stream);
  const target = {
    name: 'Purser sandbox',
    load: {
      ...load,
      url: service.ready,
      keys: apps.map(({ testKey }) => testKey),
      ...(stream ? {} : { expected: SANDBOX_TEXT }),
    },
    pid: service.pid,
    databasePid: database.pid,
  };
  return [target];
}

/** The gateways of other vendors that are to be had. */
export async function peerTargetsOf(ground: Ground, stream: boolean): Promise<readonly Target[]> {
  const peers = await ground.peers();
  return peers.map(({ load, ...peer }) => ({ ...peer, load: { ...loadOf(ground, stream), ...load } }));
}

/** The end of a stream proves that all of it came. */
function loadOf({ users }: Ground, stream: boolean): Omit<Load, 'url' | 'keys'> {
  return { path: CHAT_PATH, body: bodyOf({ stream }), users, expected: stream ? STREAM_END : EXPECTED_TEXT };
}

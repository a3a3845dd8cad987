import path from 'node:path';
import { ferrogw } from './ferrogw.ts';
import { liteLlm } from './litellm.ts';
import { oneApi } from './one-api.ts';
import type { Peer, PeerKind, PeerOptions } from './peer.ts';
import { portkey } from './portkey.ts';

const KINDS: readonly PeerKind[] = [portkey, ferrogw, oneApi, liteLlm];

interface PeersOptions extends PeerOptions {
  readonly missing: (what: string, how: string) => void;
}

/** Starts those that are to be had, and says how to get the others. */
export async function startPeers({ missing, ...options }: PeersOptions): Promise<readonly Peer[]> {
  const peers: Peer[] = [];
  for (const kind of KINDS) {
    const directory = path.join(options.directory, kind.name.toLowerCase());
    try {
      const peer = await kind.start({ ...options, directory });
      if (peer === undefined) missing(kind.name, kind.howToGet);
      else peers.push(peer);
    } catch (fault) {
      missing(kind.name, `it could not be started: ${fault instanceof Error ? fault.message : String(fault)}`);
    }
  }
  return peers;
}

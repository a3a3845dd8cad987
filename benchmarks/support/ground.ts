import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Checkout, openCheckout } from './checkout.ts';
import { type Nginx, startNginx } from './nginx.ts';
import type { Peer } from './peer.ts';
import { startPeers } from './peers.ts';
import { OWN_ROOT } from './root.ts';
import { type Running, start } from './processes.ts';
import { type Purser, startPurser } from './purser.ts';
import { BESIDE, LIVE } from './target.ts';
import { type Placement, placement, type Tools } from './tools.ts';

const UPSTREAM = fileURLToPath(new URL('../upstream/main.ts', import.meta.url));

/** What the measures stand on. It is started once, so that they measure the same processes. */
export interface Ground extends Purser {
  readonly cores: Placement;
  /** Its address is `ready`. */
  readonly upstream: Running;
  readonly nginx: Nginx | undefined;
  /** This one, and that of the checkout beside it, if there is one. */
  readonly pursers: readonly Purser[];
  /** Gateways of other vendors, installed and started when they are first asked for. */
  readonly peers: () => Promise<readonly Peer[]>;
  readonly close: () => Promise<void>;
}

interface GroundOptions {
  readonly tools: Tools;
  readonly directory: string;
  readonly users: number;
  readonly beside: Checkout | undefined;
  readonly missing: (what: string, how: string) => void;
}

export async function startGround({ tools, directory, users, beside, missing }: GroundOptions): Promise<Ground> {
  const cores = placement();
  await using started = new AsyncDisposableStack();
  const upstream = await startUpstream(tools, cores.upstream);
  started.defer(upstream.stop);
  const upstreamUrl = upstream.ready;
  const nginx =
    tools.nginx === undefined
      ? undefined
      : await startNginx({ tools: { ...tools, nginx: tools.nginx }, cores: cores.gateway, directory, upstreamUrl });
  if (nginx !== undefined) started.defer(nginx.stop);
  const startOne = (name: string, checkout: Checkout, place: string): Promise<Purser> =>
    startPurser({ name, checkout, tools, cores, directory: path.join(directory, place), upstreamUrl, users }, started);
  const own = await startOne(LIVE, await openCheckout(OWN_ROOT), 'purser');
  const pursers = beside === undefined ? [own] : [own, await startOne(BESIDE, beside, 'purser-beside')];
  const kept = started.move();
  const common = { tools, cores: cores.gateway, databaseCores: cores.database, directory, upstreamUrl };
  let peers: Promise<readonly Peer[]> | undefined;
  return {
    ...own,
    cores,
    upstream,
    nginx,
    pursers,
    peers: () => (peers ??= startPeers({ ...common, started: kept, missing })),
    close: () => kept.disposeAsync(),
  };
}

/** The fast provider. `args`: `--key` and `--cert`, for TLS. */
export function startUpstream(tools: Tools, cores: string, args: readonly string[] = []): Promise<Running> {
  return start({
    tools,
    cores,
    program: process.execPath,
    args: [UPSTREAM, ...args],
    isReady: /ready at (\S+) /,
  });
}

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { addApp, type BenchApp, type BenchDatabase, fundUsers, startDatabase } from './database.ts';
import { type Nginx, startNginx } from './nginx.ts';
import { installPortkey, type Portkey, startPortkey } from './portkey.ts';
import { type Running, start } from './processes.ts';
import { startService } from './service.ts';
import { type Placement, placement, type Tools } from './tools.ts';

const UPSTREAM = fileURLToPath(new URL('../upstream/main.ts', import.meta.url));
const APPS = 4;

/** What the measures stand on. It is started once, so that they measure the same processes. */
export interface Ground {
  readonly cores: Placement;
  /** Its address is `ready`. */
  readonly upstream: Running;
  readonly nginx: Nginx | undefined;
  readonly database: BenchDatabase;
  /** One gateway process. Its address is `ready`. */
  readonly service: Running;
  /** Several: an app may make a million calls a minute, which a measure could exceed. */
  readonly apps: readonly BenchApp[];
  /** `user-0` and so on have money, each with the app at its number modulo that of the apps. */
  readonly users: number;
  /** Another vendor's gateway, installed and started when first asked for; undefined where it can't be had. */
  readonly portkey: () => Promise<Portkey | undefined>;
  readonly close: () => Promise<void>;
}

interface GroundOptions {
  readonly tools: Tools;
  readonly directory: string;
  readonly users: number;
}

export async function startGround({ tools, directory, users }: GroundOptions): Promise<Ground> {
  const cores = placement();
  await using started = new AsyncDisposableStack();
  const upstream = await startUpstream(tools, cores.upstream);
  started.defer(upstream.stop);
  const nginx =
    tools.nginx === undefined
      ? undefined
      : await startNginx({
          tools: { ...tools, nginx: tools.nginx },
          cores: cores.gateway,
          directory,
          upstreamUrl: upstream.ready,
        });
  if (nginx !== undefined) started.defer(nginx.stop);
  const database = await startDatabase({ tools, cores: cores.database, directory: path.join(directory, 'postgres') });
  started.defer(database.close);
  const apps: BenchApp[] = [];
  while (apps.length < APPS) apps.push(await addApp(database.owner));
  await fundUsers(database.owner, apps, users);
  const service = await startService({
    tools,
    cores: cores.gateway,
    directory: path.join(directory, 'service'),
    databaseUrl: database.url,
    upstreamUrl: upstream.ready,
  });
  started.defer(service.stop);
  const kept = started.move();
  const portkey = portkeyOnDemand({ tools, cores: cores.gateway }, kept);
  return { cores, upstream, nginx, database, service, apps, users, portkey, close: () => kept.disposeAsync() };
}

function portkeyOnDemand(
  options: { readonly tools: Tools; readonly cores: string },
  owner: AsyncDisposableStack,
): Ground['portkey'] {
  const obtain = async (): Promise<Portkey | undefined> => {
    try {
      await installPortkey();
    } catch {
      return undefined;
    }
    const running = await startPortkey(options);
    owner.defer(running.stop);
    return running;
  };
  let portkey: Promise<Portkey | undefined> | undefined;
  return () => (portkey ??= obtain());
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

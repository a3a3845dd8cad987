import path from 'node:path';
import type { BookKeeper } from './books.ts';
import type { Checkout } from './checkout.ts';
import type { BenchApp, BenchDatabase } from './database.ts';
import type { Running } from './processes.ts';
import type { Placement, Tools } from './tools.ts';

/** There are several apps because an app may make a million calls a minute, which a measure could exceed. */
const APPS = 4;

/** A service of one process, its own database, and users with money. */
export interface Purser {
  /** The name that the tables show. */
  readonly name: string;
  readonly database: BenchDatabase;
  /** Its address is `ready`. */
  readonly service: Running;
  readonly apps: readonly BenchApp[];
  /**
   * The number of users. `user-0` and so on have money, and `user-n` belongs to the app at the index n modulo the
   * number of apps.
   */
  readonly users: number;
  readonly books: BookKeeper;
}

export interface PurserOptions {
  readonly name: string;
  readonly checkout: Checkout;
  readonly tools: Tools;
  readonly cores: Placement;
  /** The directory for its database and its data. */
  readonly directory: string;
  readonly upstreamUrl: string;
  readonly users: number;
}

/** Starts the service of a checkout. What is started is stopped with `started`. */
export async function startPurser(options: PurserOptions, started: AsyncDisposableStack): Promise<Purser> {
  const { name, checkout, tools, cores, directory, upstreamUrl, users } = options;
  const database = await checkout.database.startDatabase({
    tools,
    cores: cores.database,
    directory: path.join(directory, 'postgres'),
  });
  started.defer(database.close);
  const apps: BenchApp[] = [];
  while (apps.length < APPS) apps.push(await checkout.database.addApp(database.owner));
  await checkout.database.fundUsers(database.owner, apps, users);
  const service = await checkout.service.startService({
    tools,
    cores: cores.gateway,
    directory: path.join(directory, 'service'),
    databaseUrl: database.url,
    upstreamUrl,
  });
  started.defer(service.stop);
  // An older checkout reads no more of this than the database.
  const books = { name, watch: () => checkout.books.watchBooks({ database }) };
  return { name, database, service, apps, users, books };
}

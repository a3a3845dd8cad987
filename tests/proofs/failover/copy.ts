// A second cell: a plain PostgreSQL on a machine of its own, which copies the directory of the three machines (`--copy`).
import { once } from 'node:events';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createOwner } from '../../../benchmarks/support/database.ts';
import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { Cell } from './cell.ts';
import { COPY, DATABASES, PASSWORD, writeHaproxyFile } from './files.ts';
import { environmentOf, type Gateway, runCommand } from './gateways.ts';
import { addMachine, type Machine } from './network.ts';
import type { Programs } from './programs.ts';

/** How the copy finds the leader of the directory. */
export type CopyWay = 'haproxy' | 'hosts';

export interface Copy {
  readonly owner: Pool;
  /** Runs a command of the service on the machine of the copy. */
  readonly command: Gateway['command'];
  /** Waits until every node could go on with the copy's slot. */
  readonly untilSlots: () => Promise<void>;
}

interface CopyOptions {
  readonly cell: Cell;
  readonly gateway: Gateway;
  readonly programs: Programs;
  readonly directory: string;
  readonly way: CopyWay;
  /** Whether Patroni knows the slot. If it is false, the copy must stand still after a failover. */
  readonly hasSlots: boolean;
}

/** The names of the cells. */
export const CELLS = { directory: 'c1', copy: 'c2' } as const;
const SLOT = `purser_${CELLS.copy}`;
const SCHEMAS = 'accounts, catalogue, cells, db, webhooks';
const SETTINGS = {
  listen_addresses: COPY.address,
  wal_retrieve_retry_interval: '1s',
  // A leader that stands still says nothing: PostgreSQL's default is a minute.
  wal_receiver_timeout: '10s',
};
const START_MS_MAX = 60_000;
const SLOTS_MS_MAX = 180_000;

const at = (database: string): string => `postgres://postgres:${PASSWORD}@${COPY.address}/${database}`;

/** Makes it as the guide does. */
export async function startCopy(options: CopyOptions): Promise<Copy> {
  const { cell, gateway, programs, directory, way, hasSlots } = options;
  const machine = await addMachine(COPY.name, COPY.address);
  await startServer(machine, options);
  await makeDatabase(at('postgres'));
  if (way === 'haproxy') {
    const file = writeHaproxyFile(path.join(directory, COPY.name));
    machine.start([programs.haproxy, '-db', '-f', file], {
      env: {},
      logFile: path.join(directory, 'copy-haproxy.log'),
    });
  }
  const hosts = way === 'haproxy' ? '127.0.0.1:5432' : Object.values(DATABASES).join(':5432,').concat(':5432');
  const env = {
    ...environmentOf(directory, path.join(directory, 'catalogue.json')),
    PURSER_CELL: CELLS.copy,
    PURSER_DATA_DIR: path.join(directory, COPY.name, 'purser'),
    PURSER_DATABASE_DURABILITY: 'disk',
    DATABASE_URL: at('purser'),
    PURSER_DIRECTORY_URL: `postgres://copier:${PASSWORD}@${hosts}/purser?target_session_attrs=read-write`,
  };
  const logFile = path.join(directory, 'copy.log');
  const command: Copy['command'] = (...words) => runCommand(machine, { env, logFile }, words);
  if (hasSlots) {
    const slot = { type: 'logical', database: 'purser', plugin: 'pgoutput' };
    await cell.configure(...Object.entries(slot).map(([name, value]) => `slots.${SLOT}.${name}=${value}`));
  }
  await must(gateway.command('cells', 'publish'));
  await must(gateway.command('cells', 'add', CELLS.copy, '--at', `http://${COPY.address}:8787`));
  await cell.asSuperuser(
    `create role copier login replication password '${PASSWORD}'`,
    `grant usage on schema ${SCHEMAS} to copier`,
    `grant select on all tables in schema ${SCHEMAS} to copier`,
  );
  await must(command('migrate'));
  await must(command('cells', 'subscribe', '--at', gateway.url));
  return {
    owner: createOwner(at('purser')),
    command,
    untilSlots: () =>
      waitUntil('every node has the slot of the copy', () => haveSlot(cell), SLOTS_MS_MAX).then(() => undefined),
  };
}

async function must(run: ReturnType<Gateway['command']>): Promise<void> {
  const { status, said } = await run;
  if (status !== 0) throw new Error(said);
}

async function startServer(machine: Machine, { programs, directory }: CopyOptions): Promise<void> {
  const own = path.join(directory, COPY.name);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const [data, passwordFile] = [path.join(own, 'data'), path.join(own, 'password')];
  writeFileSync(passwordFile, PASSWORD);
  const run = (program: string, ...words: readonly string[]) =>
    machine.start([path.join(programs.postgres, program), '-D', data, ...words], {
      env: { LC_ALL: 'C.UTF-8' },
      logFile: path.join(directory, 'copy-postgres.log'),
      asNobody: true,
    });
  const [status] = (await once(
    run('initdb', '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'),
    'exit',
  )) as unknown[];
  if (status !== 0) throw new Error('The server of the copy was not made.');
  appendFileSync(path.join(data, 'pg_hba.conf'), 'host all all 10.0.0.0/24 scram-sha-256\n');
  run('postgres', ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]));
}

async function makeDatabase(url: string): Promise<void> {
  const owner = createOwner(url);
  try {
    await waitUntil(
      'the server of the copy takes connections',
      () =>
        owner.query('select').then(
          () => true,
          () => false,
        ),
      START_MS_MAX,
    );
    await sql(owner)`create database purser`;
  } finally {
    await owner.end();
  }
}

/**
 * Tells whether every node has the slot. Patroni makes it on a node by a restart of PostgreSQL there, and moves it on
 * every few seconds.
 */
async function haveSlot(cell: Cell): Promise<boolean> {
  const have = await Promise.all(
    cell.machines.map(async ({ address }) => {
      // Standbys answer too, and an owner's pool asks for no leader.
      const owner = createOwner(cell.urlAt(address));
      try {
        const { rowCount } = await owner.query(
          `select from pg_replication_slots where slot_name = $1 and coalesce(wal_status, 'lost') <> 'lost'`,
          [SLOT],
        );
        return rowCount === 1;
      } catch {
        return false;
      } finally {
        await owner.end();
      }
    }),
  );
  return have.every(Boolean);
}

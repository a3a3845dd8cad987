// Three database machines with Patroni and PostgreSQL, and three with etcd.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '../support/wait-until.ts';
import { DATABASES, ETCD, etcdEnvironment, PASSWORD, patroniEnvironment, writePatroniFile } from './files.ts';
import { isWhole, leaderOf, look } from './members.ts';
import { addMachine, type Machine } from './network.ts';
import type { Programs } from './programs.ts';

export interface Cell {
  /** Those of the databases. */
  readonly machines: readonly Machine[];
  readonly etcds: readonly Machine[];
  /** Waits until one node leads, and not the former leader if one is named. */
  readonly leader: (former?: Machine) => Promise<Machine>;
  readonly standbys: () => Promise<readonly Machine[]>;
  /** The standby that commits wait for. */
  readonly synchronous: () => Promise<Machine>;
  /** Waits until one node leads, both others stream from it, and one of them is synchronous if any is to be. */
  readonly untilWhole: () => Promise<void>;
  /** Starts what a machine should run and does not. */
  readonly restart: (machine: Machine) => void;
  readonly switchover: () => Promise<void>;
  /** The URL of the database `purser` on these machines. */
  readonly urlAt: (...addresses: readonly string[]) => string;
}

interface CellOptions {
  readonly programs: Programs;
  readonly directory: string;
  readonly isSynchronous: boolean;
}

const WHOLE_MS_MAX = 240_000;
const POSTGRES_PORT = 5432;

export async function startCell(options: CellOptions): Promise<Cell> {
  const { programs, directory, isSynchronous } = options;
  const file = writePatroniFile(directory, isSynchronous);
  const etcds: Machine[] = [];
  for (const [name, address] of Object.entries(ETCD)) etcds.push(await addMachine(name, address));
  for (const machine of etcds) startEtcd(machine, options);
  const machines: Machine[] = [];
  for (const [name, address] of Object.entries(DATABASES)) machines.push(await addMachine(name, address));
  const leader = (former?: Machine): Promise<Machine> => leaderOf(machines, former);

  const cell: Cell = {
    machines,
    etcds,
    leader,
    restart: (machine) => startNode(machine, file, options),
    standbys: async () => {
      const { name } = await leader();
      return machines.filter((machine) => machine.name !== name);
    },
    synchronous: async () => {
      const { members } = await look(machines);
      const name = members.find(({ role }) => role === 'sync_standby')?.name;
      const found = machines.find((machine) => machine.name === name);
      if (found === undefined) throw new Error('No standby is synchronous.');
      return found;
    },
    untilWhole: async () => {
      const what = 'all three nodes are one cluster';
      await waitUntil(what, async () => isWhole(await look(machines), isSynchronous), WHOLE_MS_MAX);
    },
    switchover: async () => {
      const { name } = await leader();
      const cluster = ['-c', file, '-d', `etcd3://${ETCD.etcd1}:2379`];
      const words = [...cluster, 'switchover', '--leader', name, '--force', 'purser'];
      await promisify(execFile)(programs.patronictl, words, { env: { ...process.env, LC_ALL: 'C.UTF-8' } });
    },
    urlAt: (...addresses) => {
      const hosts = addresses.map((address) => `${address}:${POSTGRES_PORT}`).join(',');
      return `postgres://purser:${PASSWORD}@${hosts}/purser`;
    },
  };
  for (const machine of machines) cell.restart(machine);
  await cell.untilWhole();
  await makeDatabase(await leader(), options);
  return cell;
}

function startEtcd(machine: Machine, { programs, directory }: CellOptions): void {
  const env = etcdEnvironment(placeOf(machine, directory));
  machine.start([programs.etcd], { env, logFile: path.join(directory, `${machine.name}.log`) });
}

function startNode(machine: Machine, file: string, { programs, directory }: CellOptions): void {
  const env = patroniEnvironment(placeOf(machine, directory), programs.postgres);
  const logFile = path.join(directory, `${machine.name}-patroni.log`);
  machine.start([programs.patroni, file], { env, logFile, asNobody: true });
}

/** With a folder of its own. */
function placeOf(machine: Machine, directory: string): Machine & { readonly directory: string } {
  const place = { ...machine, directory: path.join(directory, machine.name) };
  mkdirSync(place.directory, { recursive: true, mode: 0o700 });
  return place;
}

/** As the guide does it: on the leader, by its socket. Nobody else is let in as a superuser. */
async function makeDatabase(leader: Machine, { programs, directory }: CellOptions): Promise<void> {
  const role = `create role purser login createrole password '${PASSWORD}'`;
  const socket = ['-h', '/run/postgresql', '-U', 'postgres'];
  const words = [...socket, '-c', role, '-c', 'create database purser owner purser'];
  const logFile = path.join(directory, 'psql.log');
  const env = { PGPASSWORD: PASSWORD };
  const child = leader.start([path.join(programs.postgres, 'psql'), ...words], { env, logFile });
  const [status] = (await once(child, 'exit')) as unknown[];
  if (status !== 0) throw new Error(`The database was not made: see ${logFile}`);
}

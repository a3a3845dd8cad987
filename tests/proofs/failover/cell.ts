// Three database machines with Patroni and PostgreSQL, and three with etcd.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '../../support/wait-until.ts';
import {
  DATABASES,
  ETCD,
  etcdEnvironment,
  PASSWORD,
  patroniEnvironment,
  type PatroniVariant,
  restApiEnvironment,
  writePatroniFile,
} from './files.ts';
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
  /** Ends when another node leads. */
  readonly switchover: () => Promise<void>;
  /** Changes the settings of all nodes: `name.of.setting=value`. */
  readonly configure: (...settings: readonly string[]) => Promise<void>;
  /** The URL of the database `purser` on these machines. */
  readonly urlAt: (...addresses: readonly string[]) => string;
  /** Runs statements in it as a superuser, as the guide does it: on the leader, by its socket. Nobody else is let in as one. */
  readonly asSuperuser: (...statements: readonly string[]) => Promise<void>;
}

interface CellOptions extends PatroniVariant {
  readonly programs: Programs;
  readonly directory: string;
}

const WHOLE_MS_MAX = 240_000;
const POSTGRES_PORT = 5432;

export async function startCell(options: CellOptions): Promise<Cell> {
  const { programs, directory, isSynchronous } = options;
  const file = writePatroniFile(directory, options);
  const etcds: Machine[] = [];
  for (const [name, address] of Object.entries(ETCD)) etcds.push(await addMachine(name, address));
  for (const machine of etcds) startEtcd(machine, options);
  const machines: Machine[] = [];
  for (const [name, address] of Object.entries(DATABASES)) machines.push(await addMachine(name, address));
  const patronictl = async (...words: readonly string[]): Promise<void> => {
    const all = ['-c', file, '-d', `etcd3://${ETCD.etcd1}:2379`, ...words];
    const { stdout, stderr } = await promisify(execFile)(programs.patronictl, all, {
      // With the password of the health route: without it a node refuses, and patronictl ends with 0 all the same.
      env: { ...process.env, ...restApiEnvironment(), LC_ALL: 'C.UTF-8' },
    });
    appendFileSync(path.join(directory, 'patronictl.log'), `${words.join(' ')}\n${stdout}${stderr}`);
  };
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
      const former = await leader();
      await patronictl('switchover', '--leader', former.name, '--force', 'purser');
      await leader(former);
    },
    configure: (...settings) =>
      patronictl('edit-config', '--force', ...settings.flatMap((setting) => ['-s', setting]), 'purser'),
    urlAt: (...addresses) => {
      const hosts = addresses.map((address) => `${address}:${POSTGRES_PORT}`).join(',');
      return `postgres://purser:${PASSWORD}@${hosts}/purser`;
    },
    asSuperuser: async (...statements) => runAsSuperuser(await leader(), 'purser', statements, options),
  };
  for (const machine of machines) cell.restart(machine);
  await cell.untilWhole();
  const role = `create role purser login createrole password '${PASSWORD}'`;
  await runAsSuperuser(await leader(), 'postgres', [role, 'create database purser owner purser'], options);
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

/** Gives the machine a folder of its own. */
function placeOf(machine: Machine, directory: string): Machine & { readonly directory: string } {
  const place = { ...machine, directory: path.join(directory, machine.name) };
  mkdirSync(place.directory, { recursive: true, mode: 0o700 });
  return place;
}

async function runAsSuperuser(
  leader: Machine,
  database: string,
  statements: readonly string[],
  { programs, directory }: CellOptions,
): Promise<void> {
  const words = ['-h', '/run/postgresql', '-U', 'postgres', '-d', database, '-v', 'ON_ERROR_STOP=1'];
  const logFile = path.join(directory, 'psql.log');
  const child = leader.start(
    [path.join(programs.postgres, 'psql'), ...words, ...statements.flatMap((statement) => ['-c', statement])],
    { env: { PGPASSWORD: PASSWORD }, logFile },
  );
  const [status] = (await once(child, 'exit')) as unknown[];
  if (status !== 0) throw new Error(`A statement failed: see ${logFile}`);
}

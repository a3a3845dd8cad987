import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../../tools/toolchain.ts';

const SERVICE = 'packages/service';

/** What builds from before version 0.1.0 was released left in an empty database: some of their migrations. */
export const FROM_BEFORE = `create schema db;
  create table db.migrations (version int primary key, name text not null, applied_at timestamptz not null default now());
  insert into db.migrations (version, name) values (1, '0001_db.sql'), (6, '0006_ledger.sql'), (87, '0087_incarnation.sql')`;

/** A later build than this one: the same sources, and one migration more. */
export interface NextBuild {
  readonly migrate: typeof import('../../packages/service/src/db/schema/migrate.ts').migrate;
  /** The name of the further migration. */
  readonly added: string;
  readonly remove: () => void;
}

/** Makes a later build in a folder of its own, whose further migration consists of these statements. */
export async function makeNextBuild(sql: string): Promise<NextBuild> {
  const root = mkdtempSync(path.join(os.tmpdir(), 'purser-next-'));
  mkdirSync(path.join(root, SERVICE), { recursive: true });
  for (const part of ['package.json', 'src', 'migrations']) {
    cpSync(path.join(ROOT, SERVICE, part), path.join(root, SERVICE, part), { recursive: true });
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  const added = addMigration(root, sql);
  const { migrate } = (await import(path.join(root, SERVICE, 'src/db/schema/migrate.ts'))) as Pick<
    NextBuild,
    'migrate'
  >;
  return { migrate, added, remove: () => rmSync(root, { recursive: true }) };
}

/** Gives the build in a folder a migration that follows its newest one, and returns its name. */
export function addMigration(root: string, sql: string): string {
  const folder = path.join(root, SERVICE, 'migrations');
  const newest = Math.max(...readdirSync(folder).map((name) => Number(name.slice(0, 4))));
  const name = `${String(newest + 1).padStart(4, '0')}_next.sql`;
  writeFileSync(path.join(folder, name), sql);
  return name;
}

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../packages/service/src/kernel/time/clock.ts';
import { createLog, type Log } from '../../packages/service/src/kernel/log.ts';
import { createSpool, type Spool } from '../../packages/service/src/ledger/settlement/spool.ts';
import { waitUntil } from './wait-until.ts';

/** Where a service with this data directory keeps settlements that cannot reach the database, in directories below it. */
export function spoolIn(dataDirectory: string): string {
  return path.join(dataDirectory, 'settlements');
}

/** A spool in a separate directory, closed and removed after the test. */
export function openTestSpool(t: TestContext, log: Log = createLog('silent')): Spool & { readonly directory: string } {
  const directory = path.join(makeSpoolParent(t), 'settlements');
  const spool = createSpool({ directory, clock: systemClock, log });
  t.after(spool.close);
  return { ...spool, directory };
}

/** A directory for one or more spools, removed after the test. */
export function makeSpoolParent(t: TestContext): string {
  const parent = mkdtempSync(path.join(os.tmpdir(), 'purser-spool-'));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  return parent;
}

export interface SpooledFile {
  readonly name: string;
  readonly mode: number;
  readonly text: string;
}

/** The current files of a spool, or none if the directory does not exist yet. */
export function filesOf(directory: string): readonly SpooledFile[] {
  return namesIn(directory).map((name) => {
    const file = path.join(directory, name);
    return { name, mode: statSync(file).mode & 0o777, text: readFileSync(file, 'utf8') };
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    const found = readdirSync(directory, { recursive: true, withFileTypes: true });
    return found
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
  } catch {
    return [];
  }
}

/** The records of a spool, parsed, from all of its files. */
export function recordsOf(directory: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = filesOf(directory).flatMap(({ text }) => text.split('\n').filter((line) => line !== ''));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

export async function untilEmpty(directory: string): Promise<void> {
  await waitUntil('no file is left in the spool', () => namesIn(directory).length === 0);
}

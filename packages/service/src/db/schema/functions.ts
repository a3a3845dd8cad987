import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Queryable } from '#db/pool/pool.ts';
import { functionTexts } from '#db/schema/both-moneys.ts';
import { type AppliedFunction, deleteFunction, selectSignatures, upsertFunction } from '#db/schema/queries.ts';
import { assert } from '#kernel/faults/assert.ts';

/** The version of this build. It leaves functions alone that a newer one has made. */
export const VERSION = readVersion();

interface FunctionFile {
  readonly name: string;
  readonly sql: string;
  readonly digest: Buffer;
}

/** What has to change for a database to have this build's functions and no others. */
interface MissingFunctions {
  readonly changed: readonly FunctionFile[];
  readonly gone: readonly { readonly name: string }[];
}

/** Compares what a database has with the files of this build, by the digests of their texts. */
export function missingFunctions(present: readonly AppliedFunction[]): MissingFunctions {
  const files = readFunctions();
  const digests = new Map(present.map(({ name, digest }) => [name, digest]));
  const names = new Set(files.map(({ name }) => name));
  return {
    changed: files.filter(({ name, digest }) => digests.get(name)?.equals(digest) !== true),
    gone: present.filter(({ name }) => !names.has(name)),
  };
}

/**
 * Makes and drops functions, in the caller's transaction. Bodies are not checked while this runs, so that files need no
 * order: a function may name another that is made after it. A test checks them all.
 */
export async function replaceFunctions(tx: Queryable, { changed, gone }: MissingFunctions): Promise<void> {
  if (changed.length > 0) await tx.query('set local check_function_bodies = off');
  for (const { name } of gone) {
    // One on which a trigger or a constraint still hangs cannot go: a migration has to drop that first.
    await drop(tx, name, { attached: true });
    await deleteFunction(tx, name);
  }
  for (const { name, sql, digest } of changed) {
    try {
      // Dropped, so that what it takes, what it answers and who may call it can change. One on which a trigger or a
      // constraint hangs takes the same for good, and `create or replace` gives it its new body.
      await drop(tx, name, { attached: false });
      await tx.query(sql);
    } catch (fault) {
      throw new Error(`The function ${name} could not be made.`, { cause: fault });
    }
    await upsertFunction(tx, { name, digest, version: VERSION });
  }
}

async function drop(tx: Queryable, name: string, { attached }: { readonly attached: boolean }): Promise<void> {
  for (const { signature, is_attached: isAttached } of await selectSignatures(tx, name)) {
    if (attached || !isAttached) await tx.query(`drop function ${signature}`);
  }
}

/** Every function of this build, by the name that its file gives it: `ledger/turn/lane_turn.sql` makes `ledger.lane_turn`. */
export function readFunctions(): readonly FunctionFile[] {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }); // A glob takes ten times as long, and every start does this.
  const paths = files.filter((name) => name.endsWith('.sql')).toSorted();
  return paths.flatMap((path) => {
    const file = readFileSync(new URL(`../../${path.replaceAll('\\', '/')}`, import.meta.url), 'utf8');
    return functionTexts(file).map((sql) => {
      const name = /^create or replace function ([\w.]+)/im.exec(sql)?.[1];
      assert(name !== undefined, `${path} makes a function`);
      return { name, sql, digest: createHash('sha256').update(sql).digest() };
    });
  });
}

/** Whether a version is newer than this build's: `0.10.0` is newer than `0.9.1`. */
export function isNewerVersion(version: string): boolean {
  const theirs = version.split('.').map(Number);
  const ours = VERSION.split('.').map(Number);
  const place = theirs.findIndex((number, index) => number !== ours[index]);
  return place !== -1 && (theirs[place] ?? 0) > (ours[place] ?? 0);
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '';
  assert(typeof version === 'string' && /^\d+\.\d+\.\d+$/.test(version), 'the package has a version of three numbers');
  return version;
}

// A disk that is really full, because its file system has only a few pages.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { afterwards } from '../../support/embedded-harness.ts';
import type { LosableServer } from './losable-server.ts';
import { rewrite } from '../../support/rewrite.ts';

export interface SmallDisk {
  readonly directory: string;
  /** Fills it with a file, to the last byte. */
  readonly fill: () => void;
  readonly grow: () => void;
}

const SIZE_KIBIBYTES = 256;

/** Returns undefined if this process may not mount. The disk is unmounted after the test. */
export function mountSmallDisk(t: TestContext): SmallDisk | undefined {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_KIBIBYTES}k`, 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    rmSync(directory, { recursive: true });
    return undefined;
  }
  chmodSync(directory, 0o711);
  afterwards(t, () => {
    execFileSync('umount', ['--lazy', directory]);
    rmSync(directory, { recursive: true });
  });
  return {
    directory,
    fill: () => {
      for (const bytes of [4_096, 1]) {
        try {
          for (;;) writeFileSync(path.join(directory, 'filler'), Buffer.alloc(bytes), { flag: 'a' });
        } catch (fault) {
          if (!(fault instanceof Error && 'code' in fault && fault.code === 'ENOSPC')) throw fault;
        }
      }
    },
    grow: () => void execFileSync('mount', ['-o', 'remount,size=64m', directory]),
  };
}

const WALLET_OF_NOBODY = 0;
// The call id decides in which partition a receipt lies. These share one with the calls of the test.
const RECEIPT = `insert into usage.calls (call_id, wallet_id, month, outcome, is_estimated, prompt_tokens, cached_tokens,
    completion_tokens, reasoning_tokens, held_micros, charged_micros)
  values (uuidv7(), ${WALLET_OF_NOBODY}, '2020-01-01', 'failed', false, 0, 0, 0, 0, 1, 0)`;
const HOLD = `insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
  values (gen_random_uuid(), ${WALLET_OF_NOBODY}, 1, '2020-01-01', false, 0)`;

/** Puts the tables that grow with every call on the disk and fills both to the last row. */
export async function fillTables({ database: { owner }, directory }: LosableServer, disk: SmallDisk): Promise<void> {
  const place = path.join(disk.directory, 'tables');
  mkdirSync(place);
  chownSync(place, statSync(directory).uid, statSync(directory).gid);
  await owner.query(`create tablespace small location '${place}'`);
  const tables = `select relid::regclass::text as name from pg_partition_tree('usage.calls') where isleaf
    union all select 'ledger.holds'`;
  for (const { name } of (await owner.query<{ name: string }>(tables)).rows) {
    await owner.query(`alter table ${name} set tablespace small`);
  }
  disk.fill();
  for (const row of [RECEIPT, HOLD]) {
    await owner.query(`do $$ begin loop begin ${row}; exception when disk_full then exit; end; end loop; end $$`);
  }
}

/** Makes room and removes the filler rows. */
export async function emptyTables({ database }: LosableServer, disk: SmallDisk): Promise<void> {
  disk.grow();
  for (const table of ['usage.calls', 'ledger.holds']) {
    await rewrite(database, `delete from ${table} where wallet_id = ${WALLET_OF_NOBODY}`);
  }
}

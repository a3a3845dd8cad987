// What a fault of the directory's cell does to the copy of another cell.
import { addApp, createOwner } from '../../../benchmarks/support/database.ts';
import { DIRECTORY, type DirectoryTable } from '../../../packages/service/src/cells/topology/tables.ts';
import { writeTimesAlike } from '../../../packages/service/src/db/records/moved-rows.ts';
import { inTransaction, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { Cell } from './cell.ts';
import type { Copy } from './copy.ts';
import { addNamed, changeOnce, startChanges } from './copy-changes.ts';
import { DATABASES } from './files.ts';

/** What became of the copy in a round. */
export interface CopyJudgement {
  /** The longest time without a change that was confirmed in the directory, and without one that arrived in the copy, in seconds. */
  readonly stood: { readonly directory: number; readonly copy: number };
  /**
   * The seconds until a new app and a revoked key were in the copy, when all was over. It is undefined if they never
   * came.
   */
  readonly seconds: number | undefined;
  /** The tables that have other rows in the copy, by a comparison that shares nothing with the product's. */
  readonly differing: readonly string[];
  /** Whether `cells compare` said the same. */
  readonly isTold: boolean;
  /** Whether `cells subscribe --again` made it right, if it was not. */
  readonly isMended: boolean | undefined;
}

const ARRIVE_MS_MAX = 30_000;
const SAME_MS_MAX = 5_000;

export async function watchCopy(cell: Cell, copy: Copy) {
  // All hosts: its connections follow the leader.
  const directory = createOwner(cell.urlAt(...Object.values(DATABASES)));
  const named = await addNamed(directory);
  let latest = await addApp(directory);
  return {
    /** Begins to change the directory. */
    begin: () => {
      const changes = startChanges(directory, copy.owner, named);
      return {
        end: async (beganAt: number): Promise<CopyJudgement> => {
          const stood = await changes.stop(beganAt);
          const { added, seconds } = await changeOnce(directory, copy.owner, latest, ARRIVE_MS_MAX);
          latest = added;
          return { stood, seconds, ...(await judgeCopy(directory, copy, seconds !== undefined)) };
        },
      };
    },
  };
}

async function judgeCopy(
  directory: Pool,
  copy: Copy,
  isAlive: boolean,
): Promise<Pick<CopyJudgement, 'differing' | 'isTold' | 'isMended'>> {
  const differing = await differences(directory, copy.owner);
  const { status, said } = await copy.command('cells', 'compare');
  const told = [...said.matchAll(/^(\S+) differs$/gm)].map(([, table]) => table);
  // A copy that stands still is not compared, and the command says so.
  const isTold = isAlive
    ? String(told) === String(differing) && (status === 0) === (differing.length === 0)
    : status !== 0 && said.includes('stands still');
  if (!isTold)
    console.log(`cells compare ended with ${status}: ${said.trim()}; rows differ in: ${differing.join(', ')}`);
  if (isAlive && differing.length === 0) return { differing, isTold, isMended: undefined };
  const again = await copy.command('cells', 'subscribe', '--again');
  console.log(again.said.trim());
  const after = await differences(directory, copy.owner);
  const compared = await copy.command('cells', 'compare');
  return { differing, isTold, isMended: again.status + compared.status === 0 && after.length === 0 };
}

/** Waits a little for rows that are still under way. */
async function differences(directory: Pool, copy: Pool): Promise<readonly string[]> {
  let found: readonly string[] = [];
  const look = async (): Promise<boolean> => {
    const looks = await Promise.all(
      DIRECTORY.map(async (table) => {
        const [one, other] = await Promise.all([rowsOf(directory, table), rowsOf(copy, table)]);
        return one === other ? [] : [table.name];
      }),
    );
    found = looks.flat().toSorted();
    return found.length === 0;
  };
  await waitUntil('the copy is the same', look, SAME_MS_MAX).catch(() => {});
  return found;
}

function rowsOf(pool: Pool, { name, ownColumns }: DirectoryTable): Promise<string> {
  const own = [...ownColumns, ...(name === 'cells.cells' ? ['beat_at'] : [])];
  return inTransaction(pool, async (tx) => {
    await writeTimesAlike(tx);
    const { rows } = await tx.query<{ all: string | null }>(
      `select string_agg((to_jsonb(t) - $1::text[])::text, e'\\n' order by (to_jsonb(t) - $1::text[])::text collate "C") as all from ${name} t`,
      [own],
    );
    return rows[0]?.all ?? '';
  });
}

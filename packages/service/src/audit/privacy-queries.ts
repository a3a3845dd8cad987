import type { Queryable } from '#db/pool/pool.ts';

interface ActRow {
  readonly at: Date;
  readonly action: string;
}

/** What an identity did, and what was done to it, by name and time. Reasons are left out: they are words of other people. */
export async function selectActsOf(db: Queryable, identityId: string, most: number): Promise<readonly ActRow[]> {
  const { rows } = await db.query<ActRow>(
    `select at, action from (
       (select entry_id, at, action from audit.entries where actor = $1 order by entry_id desc limit $2)
       union
       (select entry_id, at, action from audit.entries where subject = $1 order by entry_id desc limit $2)
     ) as acts order by entry_id desc limit $2`,
    [identityId, most],
  );
  return rows;
}

/** Deletes the sign-ins of an account or identity, with the network addresses in them. */
export async function deleteSignInsOf(tx: Queryable, who: string): Promise<void> {
  await tx.query(`delete from audit.sign_ins where who = $1`, [who]);
}

import type { Queryable } from '#db/pool.ts';

/** A person, as another database gets to know them. All is as it is stored: addresses are sealed, with keys that all cells have. */
export interface MovedPerson {
  readonly identity_id: string;
  readonly email: string;
  readonly created_at: string;
  /** JSON rows of `identities.passkeys`. */
  readonly passkeys: readonly string[];
}

export async function selectMovedPeople(db: Queryable, ids: readonly string[]): Promise<readonly MovedPerson[]> {
  const { rows } = await db.query<MovedPerson>(
    `select i.identity_id, i.email, i.created_at::text as created_at,
       array(select to_jsonb(p)::text from identities.passkeys p where p.identity_id = i.identity_id order by p.credential_id) as passkeys
     from identities.identities i where i.identity_id = any ($1) order by i.identity_id`,
    [ids],
  );
  return rows;
}

/**
 * Makes sure that a person is known here, with their passkeys. Gives their id here: another one if somebody with this address has
 * signed in here before.
 */
export async function upsertMovedPerson(tx: Queryable, person: MovedPerson): Promise<string> {
  const { rows } = await tx.query<{ identity_id: string }>(
    `select identity_id from identities.identities where identity_id = $1 or email = $2 order by identity_id <> $1 limit 1`,
    [person.identity_id, person.email],
  );
  const here = rows[0]?.identity_id ?? person.identity_id;
  await tx.query(
    'insert into identities.identities (identity_id, email, created_at) values ($1, $2, $3) on conflict do nothing',
    [here, person.email, person.created_at],
  );
  await tx.query(
    `insert into identities.passkeys
     select p.* from unnest($1::text[]) j (text)
     cross join lateral jsonb_populate_record(null::identities.passkeys, j.text::jsonb || jsonb_build_object('identity_id', $2::text)) p
     on conflict do nothing`,
    [person.passkeys, here],
  );
  return here;
}

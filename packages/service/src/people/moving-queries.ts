import type { Queryable } from '#db/pool/pool.ts';
import { newIdentityId } from '#kernel/values/ids.ts';

/** A person, as another database gets to know them. All is as it is stored: addresses are sealed, with keys that all cells have. */
export interface MovedPerson {
  readonly identity_id: string;
  readonly email: string;
  readonly created_at: string;
  /** The passkeys of the person, as JSON rows of `identities.passkeys`. */
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
 * Makes sure that somebody with this address is known here, with these passkeys, and gives their id. It is the person's own, unless the address is
 * known here, or the id has another address here: people change it in each cell separately. The address alone decides, so those who could not
 * sign in to a wallet before cannot do so afterwards.
 */
export async function upsertMovedPerson(tx: Queryable, person: MovedPerson): Promise<string> {
  const taken = await tx.query('select from identities.identities where identity_id = $1 and email <> $2', [
    person.identity_id,
    person.email,
  ]);
  const id = taken.rowCount === 0 ? person.identity_id : newIdentityId();
  const { rows } = await tx.query<{ identity_id: string }>(
    `insert into identities.identities (identity_id, email, created_at) values ($1, $2, $3)
     on conflict (email) do update set email = excluded.email
     returning identity_id`,
    [id, person.email, person.created_at],
  );
  const here = rows[0]?.identity_id ?? id;
  await tx.query(
    `insert into identities.passkeys
     select p.* from unnest($1::text[]) j (text)
     cross join lateral jsonb_populate_record(null::identities.passkeys, j.text::jsonb || jsonb_build_object('identity_id', $2::text)) p
     on conflict do nothing`,
    [person.passkeys, here],
  );
  return here;
}

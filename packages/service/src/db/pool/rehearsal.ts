import type { Pool } from '#db/pool/pool.ts';

/** A transaction that never commits, for work that opens transactions of its own. */
interface Rehearsal {
  /** Has one connection, inside the transaction. Only one piece of work may use it at a time. */
  readonly pool: Pool;
  /** Whether the latest transaction of the work ended with a commit. */
  readonly hasCommitted: () => boolean;
}

/** What `inTransaction` sends, and what is sent in its place. */
const SAVEPOINTS: Readonly<Record<string, string>> = {
  begin: 'savepoint rehearsed',
  commit: 'release savepoint rehearsed',
  rollback: 'rollback to savepoint rehearsed',
};

/**
 * Runs work on a database that forgets it: all that the work does is rolled back at the end, also what it has committed.
 * The work sees its own changes, and its locks are held until the end. So it must do nothing but use the database.
 */
export async function rehearse<Result>(pool: Pool, work: (rehearsal: Rehearsal) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  const send = client.query.bind(client);
  let hasCommitted = false;
  const query = (statement: unknown, ...more: readonly unknown[]): unknown => {
    if (statement === 'commit') hasCommitted = true;
    if (statement === 'rollback') hasCommitted = false;
    const sent = typeof statement === 'string' ? (SAVEPOINTS[statement] ?? statement) : statement;
    return Reflect.apply(send, undefined, [sent, ...more]);
  };
  const inner = new Proxy(client, {
    get: (target, name) =>
      name === 'query' ? query : name === 'release' ? () => {} : Reflect.get(target, name, target),
  });
  const inside = new Proxy(pool, {
    get: (target, name) =>
      name === 'query' ? query : name === 'connect' ? async () => inner : Reflect.get(target, name, target),
  });
  let isBroken = true; // A connection in an unknown state must not go back into the pool.
  try {
    await client.query('begin');
    return await work({ pool: inside, hasCommitted: () => hasCommitted });
  } finally {
    isBroken = await client.query('rollback').then(
      () => false,
      () => true,
    );
    client.release(isBroken);
  }
}

import type { Queryable } from '../../packages/service/src/db/pool/pool.ts';

type Connection = Pick<Queryable, 'query'>;
/** A connection, or something that has a database: then its owner asks. */
type Asked = Connection | { readonly owner: Connection } | { readonly database: { readonly owner: Connection } };

/** Runs a statement and returns its rows. What stands in `${}` becomes a parameter: sql(service)`delete from t where a = ${1}`. */
export function sql<Row extends object = object>(asked: Asked) {
  return async (text: readonly string[], ...values: readonly unknown[]): Promise<readonly Row[]> => {
    const statement = text.reduce((before, part, place) => `${before}$${place}${part}`);
    return (await connectionOf(asked).query<Row>(statement, [...values])).rows;
  };
}

/** The same, for the first row. */
export function sqlRow<Row extends object>(asked: Asked) {
  return async (...statement: Parameters<ReturnType<typeof sql>>): Promise<Row | undefined> =>
    (await sql<Row>(asked)(...statement))[0];
}

/** The same, for the first column of the first row. */
export function sqlValue<Value>(asked: Asked) {
  return async (...statement: Parameters<ReturnType<typeof sql>>): Promise<Value | undefined> =>
    Object.values((await sqlRow<Record<string, Value>>(asked)(...statement)) ?? {})[0];
}

function connectionOf(asked: Asked): Connection {
  if ('query' in asked) return asked;
  return 'owner' in asked ? asked.owner : asked.database.owner;
}

import type pg from 'pg';
import type { Queryable } from '../../packages/service/src/db/pool/pool.ts';
import type { TestService } from './service.ts';

type Row = Readonly<Record<string, unknown>>;

/** The same connection, whose statements with this text are answered with rows that nobody has written. */
export function answering<Db extends Queryable>(db: Db, text: string, change: (row: Row) => Row): Db {
  const query = async (statement: string | pg.QueryConfig, values?: readonly unknown[]): Promise<unknown> => {
    const answer = await db.query(statement as string, values as unknown[]);
    const asked = typeof statement === 'string' ? statement : statement.text;
    return asked.includes(text) ? { ...answer, rows: answer.rows.map(change) } : answer;
  };
  return new Proxy(db, {
    get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)),
  });
}

/**
 * Gives a function of the ledger another body, which may call the right one as `right_<name>`. Returns what puts it back.
 */
export async function breakFunction(service: Pick<TestService, 'database'>, name: string, body: string) {
  const { owner } = service.database;
  const { rows } = await owner.query<{ definition: string }>(`select pg_get_functiondef($1::regproc) as definition`, [
    `ledger.${name}`,
  ]);
  const definition = rows[0]?.definition ?? '';
  await owner.query(definition.replace(`ledger.${name}(`, `ledger.right_${name}(`));
  const head = definition.slice(0, definition.indexOf('\nAS '));
  await owner.query(`${head}\nAS $broken$\n#variable_conflict use_column\nbegin ${body} end $broken$`);
  return async () => void (await owner.query(definition));
}

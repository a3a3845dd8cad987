import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { TestContext } from 'node:test';
import pg from 'pg';

const SERVED = 'http.server.request.start';

/**
 * Returns a function that counts the statements which the requests during some work make. What this process does in the
 * background does not count.
 */
export function statementsOf(t: TestContext): (work: () => Promise<unknown>) => Promise<number> {
  const served = new AsyncLocalStorage<boolean>();
  let count = 0;
  const onServed = (): void => served.enterWith(true);
  subscribe(SERVED, onServed);
  t.after(() => unsubscribe(SERVED, onServed));
  for (const { prototype } of [pg.Pool, pg.Client] as const) {
    const query = prototype.query as (...args: readonly unknown[]) => unknown;
    t.mock.method(prototype, 'query', function counted(this: unknown, ...args: readonly unknown[]): unknown {
      // A pool calls a client with a function for the answer. That statement is counted at the pool.
      if (served.getStore() === true && typeof args.at(-1) !== 'function') count += 1;
      return query.apply(this, [...args]);
    });
  }
  return async (work) => {
    count = 0;
    await work();
    return count;
  };
}

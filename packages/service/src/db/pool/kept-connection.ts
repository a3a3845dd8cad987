import pg from 'pg';
import { MeteredPool, type PoolUse } from '#db/pool/metrics.ts';

/**
 * A pool that keeps its one connection between statements, for those that every call waits for: to take a connection out of a pool and to
 * put it back costs a lone call as much as the rest of our part in its statement. Nobody else takes this connection, so it is for
 * statements that stand alone. If one fails, or the server ends the connection, the next opens another one, as in any pool.
 */
export class KeptConnectionPool extends MeteredPool {
  #kept: pg.PoolClient | undefined;
  #opening: Promise<pg.PoolClient> | undefined;
  #running = 0;
  #isEnding = false;

  constructor(config: pg.PoolConfig, use: PoolUse) {
    super(config, use);
    // The method has many forms, of which our statements use those with a promise.
    this.query = ((asked: pg.QueryConfig | string, values: unknown[] = []) =>
      this.#query(typeof asked === 'string' ? { text: asked, values } : asked)) as pg.Pool['query'];
  }

  override idleNow(): number {
    return super.idleNow() + (this.#kept !== undefined && this.#running === 0 ? 1 : 0);
  }

  override end(): Promise<void>;
  override end(ended: () => void): void;
  override end(ended?: () => void): Promise<void> | void {
    this.#isEnding = true;
    if (this.#kept !== undefined && this.#running === 0) this.#letGo(this.#kept, false);
    return ended === undefined ? super.end() : super.end(ended);
  }

  #query(statement: pg.QueryConfig): Promise<unknown> {
    const client = this.#isEnding ? undefined : this.#kept;
    if (client === undefined) {
      this.#opening ??= this.#open();
      return this.#opening.then((opened) => this.#queryOn(opened, statement));
    }
    this.countReady();
    return this.#queryOn(client, statement);
  }

  #queryOn(client: pg.PoolClient, { name, text, values }: pg.QueryConfig): Promise<unknown> {
    this.#running += 1;
    return new Promise((resolve, reject) => {
      // Made here, because the driver copies an object property by property.
      const query = new pg.Query(text, values, (fault: Error | undefined, result) => {
        this.#running -= 1;
        if (fault) this.#letGo(client, true);
        else if (this.#isEnding && this.#running === 0) this.#letGo(client, false);
        if (fault) reject(fault);
        else resolve(result);
      });
      client.query(Object.assign(query, { name }));
    });
  }

  async #open(): Promise<pg.PoolClient> {
    try {
      const client = await super.connect();
      this.#kept = client;
      client.on('error', (fault) => {
        if (this.#running === 0) this.emit('error', fault, client); // If a statement runs, it reports the fault.
      });
      client.once('end', () => this.#letGo(client, true));
      return client;
    } finally {
      this.#opening = undefined;
    }
  }

  #letGo(client: pg.PoolClient, isBroken: boolean): void {
    if (client !== this.#kept) return;
    this.#kept = undefined;
    client.release(isBroken);
  }
}

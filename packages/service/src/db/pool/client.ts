import pg from 'pg';
import { type Asked, checkConnection, explainedFault } from '#db/pool/connection-check.ts';
import type { LeaderWatch } from '#db/servers/leader.ts';

interface CheckedOptions {
  readonly asked: Asked;
  /** The watch that finds the leader. It is undefined if there is one host, to which the driver connects. */
  readonly watch: LeaderWatch | undefined;
}

type Connected = ((fault: Error) => void) | ((fault: null, client: pg.Client) => void);

/**
 * Makes the class of a pool's connections. Each goes to the leader, is cut when another server leads, and is asked once what it is
 * before a statement runs on it: one round trip beside the five or more of a new connection.
 */
export function checkedClients({ asked, watch }: CheckedOptions): typeof pg.Client {
  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      // Without a listener, a connection that dies between two statements would end the process. If it is in use, the next
      // statement on it fails. If it is idle, the pool reports it.
      this.on('error', () => {});
    }

    override connect(): Promise<pg.Client>;
    override connect(connected: Connected): void;
    override connect(connected?: Connected): Promise<pg.Client> | void {
      const opened = this.#open();
      if (connected === undefined) return opened;
      const told = connected as (fault: unknown, client?: pg.Client) => void;
      void opened.then(
        () => told(null, this),
        (fault: unknown) => told(fault),
      );
    }

    async #open(): Promise<pg.Client> {
      try {
        await this.#reach();
        return this;
      } catch (fault) {
        this.connection.stream.destroy();
        throw explainedFault(fault);
      }
    }

    async #reach(): Promise<void> {
      const leader = await watch?.find();
      let isCut = false;
      const cut = (): void => {
        isCut = true;
        this.connection.stream.destroy();
      };
      if (leader !== undefined) {
        this.host = leader.host.name;
        this.port = leader.host.port;
        this.once('end', watch?.follow(leader, cut) ?? (() => {}));
      }
      try {
        await super.connect();
        await checkConnection(this, asked, leader);
        if (isCut) throw new Error('Connection terminated: another server leads.');
      } catch (fault) {
        watch?.doubt();
        throw fault;
      }
    }
  };
}

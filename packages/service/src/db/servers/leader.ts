import { type DatabaseAddress, textOf } from '#db/servers/hosts.ts';
import { askAll } from '#db/servers/leader-search.ts';
import { type Leader, openProbe, type Probe } from '#db/servers/probe.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';
import { counter } from '#kernel/metrics/metrics.ts';
import { sleep } from '#kernel/time/sleep.ts';

/**
 * Knows which of several servers leads. While there are connections, it asks the leader every second over a connection of its own.
 * If the leader is silent for a second, has gone, or takes no writes, all servers are asked at once. A frozen one delays none
 * of the others.
 */
export interface LeaderWatch {
  /** The leader, without a question if it is known. Rejects with `NoLeaderError` if no server leads. */
  readonly find: () => Promise<Leader>;
  /** Calls `cut` once another server leads. Returns a function that ends this. */
  readonly follow: (leader: Leader, cut: () => void) => () => void;
  /** Asks all servers soon: a connection found something wrong. */
  readonly doubt: () => void;
}

/** No server takes writes. A connection fault: a statement may succeed later. */
export class NoLeaderError extends Error {
  readonly code = '57P03';
}

interface WatchOptions {
  readonly address: DatabaseAddress;
  readonly log: Log;
  readonly open?: typeof openProbe;
}

const PERIOD_MS = 1_000;
/** The pause between searches that found nobody. */
const PAUSE_MS = 250;

const changes = counter('purser_database_leader_changes_total', 'How often connections moved to another leader.');

export function createLeaderWatch(options: WatchOptions): LeaderWatch {
  const watch = new Watch(options);
  return {
    find: () => watch.find(),
    follow: (leader, cut) => watch.follow(leader, cut),
    doubt: () => watch.doubt(),
  };
}

class Watch {
  readonly #address: DatabaseAddress;
  readonly #log: Log;
  readonly #open: typeof openProbe;
  readonly #followers = new Map<() => void, Leader>();
  #leader: Leader | undefined;
  #systemId: string | undefined;
  /** The last search found nobody. */
  #isAway = false;
  #searching: Promise<void> | undefined;
  #searchedAtMs = Number.NEGATIVE_INFINITY;
  #isWatching = false;
  #isDoubted = false;
  #held: { readonly of: Leader; readonly probe: Probe } | undefined;
  #wake = (): void => {};

  constructor({ address, log, open = openProbe }: WatchOptions) {
    this.#address = address;
    this.#log = log;
    this.#open = open;
  }

  async find(): Promise<Leader> {
    const isKnown = this.#leader !== undefined && !this.#isAway;
    const isRested = steadyClock.nowMs() - this.#searchedAtMs >= PAUSE_MS;
    if (this.#searching !== undefined || (!isKnown && isRested)) await this.#searchOnce();
    if (this.#leader !== undefined && !this.#isAway) return this.#leader;
    throw new NoLeaderError(`None of ${this.#address.hosts.map(textOf).join(', ')} takes writes now.`);
  }

  follow(leader: Leader, cut: () => void): () => void {
    this.#followers.set(cut, leader);
    if (leader !== this.#leader) cut();
    if (!this.#isWatching) void this.#watch();
    return () => {
      this.#followers.delete(cut);
      if (this.#followers.size === 0) this.#wake();
    };
  }

  doubt(): void {
    this.#isDoubted = true;
    this.#wake();
  }

  #searchOnce(): Promise<void> {
    this.#searching ??= this.#search().finally(() => {
      this.#searching = undefined;
    });
    return this.#searching;
  }

  async #search(): Promise<void> {
    const timelineMin = this.#leader?.timeline ?? 1;
    const { claims, systems } = await askAll(this.#address, {
      timelineMin,
      systemId: this.#systemId,
      open: this.#open,
    });
    this.#searchedAtMs = steadyClock.nowMs();
    const known = this.#systemId;
    const isMixed = known === undefined ? systems.size > 1 : [...systems].some((system) => system !== known);
    if (isMixed) this.#log.error({}, 'a host of DATABASE_URL is no copy of the same database: it is never used');
    // At the start nobody knows which one is right.
    this.#settle(isMixed && known === undefined ? [] : claims);
    if (this.#leader !== undefined) this.#systemId ??= [...systems][0];
  }

  #settle(claims: readonly Leader[]): void {
    // Of two with the same timeline, the one that is in use: a change would cut connections for nothing.
    const isKnown = ({ host }: Leader): number => Number(host === this.#leader?.host);
    const [best] = claims.toSorted((a, b) => b.timeline - a.timeline || isKnown(b) - isKnown(a));
    this.#isAway = best === undefined;
    if (best === undefined) return;
    if (this.#leader?.host === best.host && this.#leader.timeline === best.timeline) return;
    const about = { host: textOf(best.host), timeline: best.timeline };
    if (this.#leader === undefined) this.#log.info(about, 'the leader of the database was found');
    else {
      changes.add();
      this.#log.warn(about, 'the database has another leader: all connections move there');
    }
    this.#leader = best;
    for (const [cut, leader] of this.#followers) {
      if (leader === best) continue;
      this.#followers.delete(cut);
      cut();
    }
  }

  /** Runs while there are connections. */
  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#followers.size > 0) {
      if (await this.#isSound().catch(() => false)) {
        if (!this.#isDoubted) await this.#nap(PERIOD_MS);
        continue;
      }
      this.#drop();
      this.#isDoubted = false;
      await this.#searchOnce();
      await sleep(PAUSE_MS, { ref: false });
    }
    this.#drop();
    this.#isWatching = false;
  }

  async #isSound(): Promise<boolean> {
    const leader = this.#leader;
    if (this.#isDoubted || this.#isAway || leader === undefined) return false;
    if (this.#held?.of !== leader) {
      this.#drop();
      const probe = await this.#open(this.#address.url, leader.host, () => this.doubt());
      this.#held = { of: leader, probe };
    }
    const standing = await this.#held.probe.ask();
    return standing.timeline === leader.timeline && standing.systemId === this.#systemId;
  }

  #drop(): void {
    this.#held?.probe.close();
    this.#held = undefined;
  }

  #nap(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

import type { BookKeeper } from './books.ts';
import type { Load } from './wrk.ts';
import type { Tools } from './tools.ts';

/** Another vendor's gateway, which runs. */
export interface Peer {
  readonly name: string;
  readonly pid: number;
  /** That of its database, if it has one. */
  readonly databasePid?: number;
  /** How it is called. Path and body are those of every target, with the model `bench`. */
  readonly load: Pick<Load, 'url' | 'keys' | 'headers'> & Partial<Pick<Load, 'users'>>;
  /** Where it charges for calls. */
  readonly books?: BookKeeper;
  readonly openPurse?: OpenPurse;
}

/** Gives a user who has never called money for so many calls, and no more. */
export type OpenPurse = (calls: number) => Promise<Purse>;

/** A user with money, and what is sent to spend it. Amounts are in the smallest unit of the gateway. */
export interface Purse {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly money: number;
  readonly price: number;
  /** What is left once no charge of the answered calls is still on its way. Below zero: more was spent than there was. */
  readonly left: (answered: number) => Promise<number>;
}

export interface PeerOptions {
  readonly tools: Tools;
  /** The cores of the gateway and of its database. */
  readonly cores: string;
  readonly databaseCores: string;
  readonly directory: string;
  readonly upstreamUrl: string;
  /** What is started is stopped with it. */
  readonly started: AsyncDisposableStack;
}

/** A gateway that can be measured. */
export interface PeerKind {
  readonly name: string;
  /** Says how to get it when it cannot be had. */
  readonly howToGet: string;
  /** Starts the gateway. Gives undefined if its setting is absent, and throws if it cannot be started. */
  readonly start: (options: PeerOptions) => Promise<Peer | undefined>;
}

// What can happen to a cell, as it is played. Each resolves when it is over, and everything runs or may come back. Only the third
// gateway is ever on a side of its own: the time without service is measured at the other two.
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../histories/random.ts';
import type { Cell } from './cell.ts';
import type { Gateway } from './gateways.ts';
import { etcdLeaderOf } from './etcd.ts';
import { cut, join, type Machine } from './network.ts';

export interface Scene {
  readonly cell: Cell;
  readonly gateways: readonly [Gateway, Gateway, Gateway];
  readonly random: Random;
  /** Notes that the fault begins now. From here on the time without service is measured. */
  readonly begins: () => void;
}

export interface Fault {
  readonly what: string;
  readonly play: (scene: Scene) => Promise<void>;
}

const S = 1_000;
/** This is longer than a leader's lease, so that another node leads by then. */
const PAST_LEASE_MS = 32 * S;
/** This is longer than a gateway's lease of 15 s, so that its holds are released. */
const PAST_GATEWAY_LEASE_MS = 27 * S;
const HELD_MS = 1 * S;
/** Those of standbys, and not that of a cell that copies the directory. */
const SENDER = /postgres: .*walsender replicator /;
const PATRONI = /bin\/patroni /;

export const FAULTS: Readonly<Record<string, Fault>> = {
  killed: {
    what: 'the leader is killed, with everything on its machine',
    play: async ({ cell, begins, random }) => {
      const leader = await cell.leader();
      await pause(random.whole(0, 3_000));
      begins();
      await leader.kill();
      await cell.leader(leader);
      cell.restart(leader);
    },
  },
  frozen: {
    what: 'the leader’s machine stands still for 32 s, and goes on as if nothing had happened',
    play: async ({ cell, begins, random }) => {
      const leader = await cell.leader();
      await pause(random.whole(0, 3_000));
      begins();
      leader.freeze();
      await pause(PAST_LEASE_MS);
      leader.thaw();
    },
  },
  partitioned: {
    what: 'the leader is cut off from the other nodes, etcd and two gateways for 32 s; the third gateway reaches it alone',
    play: async ({ cell, begins, random, gateways }) => {
      const leader = await cell.leader();
      const standbys = await cell.standbys();
      const pairs: readonly (readonly [Machine, Machine])[] = [
        ...[...standbys, ...cell.etcds, gateways[0].machine, gateways[1].machine].map(
          (other) => [leader, other] as const,
        ),
        ...standbys.map((standby) => [standby, gateways[2].machine] as const),
      ];
      await pause(random.whole(0, 3_000));
      begins();
      for (const [one, other] of pairs) cut(one, other);
      await pause(PAST_LEASE_MS);
      for (const [one, other] of pairs) join(one, other);
    },
  },
  'replication-held': {
    what: 'no standby receives anything for a second, and then the leader is killed',
    play: async ({ cell, begins, random }) => {
      const leader = await cell.leader();
      await pause(random.whole(0, 3_000));
      begins();
      // At the sender: a receiver would find what it missed in its socket.
      leader.freeze((words) => SENDER.test(words));
      await pause(HELD_MS);
      await leader.kill();
      await cell.leader(leader);
      cell.restart(leader);
    },
  },
  switchover: {
    what: 'an operator makes another node the leader',
    play: async ({ cell, begins, random }) => {
      await pause(random.whole(0, 3_000));
      begins();
      await cell.switchover();
      await pause(5 * S);
    },
  },
  'etcd-frozen': {
    what: 'all of etcd stands still for 27 s',
    play: async ({ cell, begins, random }) => {
      await pause(random.whole(0, 3_000));
      begins();
      for (const machine of cell.etcds) machine.freeze();
      await pause(PAST_GATEWAY_LEASE_MS);
      for (const machine of cell.etcds) machine.thaw();
    },
  },
  'etcd-leader-frozen': {
    what: 'the machine that leads etcd stands still for 32 s, and may revoke the leases of others when it wakes',
    play: async ({ cell, begins, random }) => {
      const leader = await etcdLeaderOf(cell.etcds);
      await pause(random.whole(0, 3_000));
      begins();
      leader.freeze();
      await pause(PAST_LEASE_MS);
      leader.thaw();
      await pause(5 * S);
    },
  },
  'standbys-killed': {
    what: 'PostgreSQL and Patroni of both standbys are killed, and come back 10 s later',
    play: async ({ cell, begins, random }) => {
      const standbys = await cell.standbys();
      await pause(random.whole(0, 3_000));
      begins();
      for (const standby of standbys) await standby.kill();
      await pause(10 * S);
      for (const standby of standbys) cell.restart(standby);
    },
  },
  'gateway-cut-off': {
    what: 'a gateway is cut off from the database for 27 s, and its callers still reach it',
    play: async ({ cell, begins, random, gateways }) => {
      await pause(random.whole(0, 3_000));
      begins();
      for (const machine of cell.machines) cut(machine, gateways[2].machine);
      await pause(PAST_GATEWAY_LEASE_MS);
      for (const machine of cell.machines) join(machine, gateways[2].machine);
    },
  },
  'gateway-wired': {
    what: 'the leader’s Patroni stands still for 32 s, and a gateway is wired to that leader',
    play: async ({ cell, begins, random, gateways }) => {
      const leader = await cell.leader();
      await gateways[2].restart(cell.urlAt(leader.address));
      await pause(random.whole(2_000, 5_000));
      begins();
      leader.freeze((words) => PATRONI.test(words));
      await pause(PAST_LEASE_MS);
      leader.thaw();
      await cell.leader(leader);
      await gateways[2].restart();
    },
  },
  'standby-cut-off': {
    what: 'the synchronous standby is cut off from everything, silently, for 32 s',
    play: async ({ cell, begins, random, gateways }) => {
      const standby = await cell.synchronous();
      const others = [...cell.machines, ...cell.etcds, ...gateways.map(({ machine }) => machine)].filter(
        ({ name }) => name !== standby.name,
      );
      await pause(random.whole(0, 3_000));
      begins();
      for (const other of others) cut(standby, other);
      await pause(PAST_LEASE_MS);
      for (const other of others) join(standby, other);
    },
  },
};

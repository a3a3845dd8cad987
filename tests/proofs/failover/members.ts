// What Patroni's nodes say of their cluster.
import { waitUntil } from '../../support/wait-until.ts';
import type { Machine } from './network.ts';

/** What is known at a moment, by asking all nodes. */
export interface View {
  readonly members: readonly Member[];
  /** The nodes that say that they lead: none, one, or for a moment after a fault two. */
  readonly leaders: readonly Machine[];
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

const ASK_MS_MAX = 2_000;
const LEADER_MS_MAX = 180_000;
const PORT = 8008;
const NOTHING = { members: [], leads: false };

export async function look(machines: readonly Machine[]): Promise<View> {
  const answers = await Promise.all(machines.map((machine) => ask(machine).catch(() => NOTHING)));
  return {
    members: answers.find(({ leads }) => leads)?.members ?? [],
    leaders: machines.filter((_machine, index) => answers[index]?.leads),
  };
}

async function ask({ address }: Machine) {
  const get = (what: string): Promise<Response> =>
    fetch(`http://${address}:${PORT}/${what}`, { signal: AbortSignal.timeout(ASK_MS_MAX) });
  const [cluster, primary] = await Promise.all([get('cluster'), get('primary')]);
  const { members } = (await cluster.json()) as Pick<View, 'members'>;
  return { members, leads: primary.ok };
}

/** Waits until exactly one node leads, and not the former leader if one is named. */
export function leaderOf(machines: readonly Machine[], former?: Machine): Promise<Machine> {
  return waitUntil(
    'one node leads',
    async () => {
      const { leaders } = await look(machines);
      const [leader] = leaders;
      return leaders.length === 1 && leader?.name !== former?.name && leader;
    },
    LEADER_MS_MAX,
  );
}

/** One leads, both others stream from it on the same timeline, and one of them is synchronous if any is to be. */
export function isWhole({ members, leaders }: View, isSynchronous: boolean): boolean {
  const sorted = (of: (member: Member) => string): string => members.map(of).toSorted().join(' ');
  return (
    leaders.length === 1 &&
    new Set(members.map(({ timeline }) => timeline)).size === 1 &&
    sorted(({ role }) => role) === (isSynchronous ? 'leader replica sync_standby' : 'leader replica replica') &&
    sorted(({ state }) => state) === 'running streaming streaming'
  );
}

import { sessionList, shortSession } from '#web/figures/session-list.ts';
import { type ComponentSample, sample } from '#web/development/samples/sample.ts';
import { AT_MS, ENGLISH, HERE, MOST, TINY } from '#web/development/samples/sample-values.ts';
import type { UsedSession } from '#kernel/calls/session-page.ts';

const OF_AGENT: UsedSession = {
  name: '0199f3a2-5c1b-7d10-9a44-1f2e3d4c5b6a',
  client: 'claude-code',
  begunAtMs: AT_MS - 5_400_000,
  lastAtMs: AT_MS,
  calls: 12_043,
  charged: MOST.amount,
  place: '2',
};
const OF_ANOTHER: UsedSession = {
  ...OF_AGENT,
  name: 's-1',
  client: undefined,
  calls: 1,
  charged: TINY.amount,
  place: '1',
};
const WORDS = { caption: 'Sessions', currency: 'EUR', empty: 'No session yet.' };

/** What pages say about the sessions of coding agents. */
export const SESSIONS: readonly ComponentSample[] = [
  sample(sessionList, {
    'without links': () => sessionList([OF_AGENT, OF_ANOTHER], WORDS, ENGLISH),
    'with links': () => sessionList([OF_AGENT], { ...WORDS, hrefOf: () => HERE }, ENGLISH),
    'no session': () => sessionList([], WORDS, ENGLISH),
  }),
  sample(shortSession, {
    'a long name': () => shortSession(OF_AGENT.name),
    'a short name': () => shortSession(OF_ANOTHER.name),
  }),
];

import type { Group, Reader } from '#web/guides/library.ts';

/** These words ask for a reader and name their guides. */
interface ReaderTexts {
  /** The reader would say this of themselves. */
  readonly heading: string;
  readonly what: string;
  /** Their guides are called this. */
  readonly guides: string;
  readonly search: string;
}

const READERS: Readonly<Record<Reader, ReaderTexts>> = {
  apps: {
    heading: 'I build an app',
    what: 'Call models, and let your users pay for their own calls: keys, errors, streaming, retries, the sandbox and webhooks.',
    ...named('app developers'),
  },
  owners: {
    heading: 'I have a wallet',
    what: 'What is charged and when, the monthly cap, pausing an app, refunds, coding agents, and what others can see.',
    ...named('wallet owners'),
  },
  operators: {
    heading: 'I run this service',
    what: 'Install it, connect models and payments, watch it, back it up, and know what to do when something goes wrong.',
    ...named('operators'),
  },
};

function named(readers: string) {
  return { guides: `Guides for ${readers}`, search: `Search the guides for ${readers}` };
}

const GROUPS: Readonly<Record<Group, string>> = {
  install: 'Install and start',
  models: 'Models',
  money: 'Apps, wallets and payments',
  running: 'Keep it running',
  special: 'When you need it',
  several: 'Only for several databases',
  providers: 'Model providers',
};

/** These are the texts of the pages of guides. */
export const GUIDES_TEXTS = {
  title: 'Guides',
  ask: 'What do you use this service for?',
  readers: READERS,
  groups: GROUPS,
  first: 'Start here',
  others: 'Guides for others',
  search: 'Search',
  results: 'Search results',
  found: (count: number, query: string) =>
    count === 1 ? `1 result for “${query}”` : `${count === 30 ? 'The first 30' : count} results for “${query}”`,
  none: (query: string) => `No part of these guides contains all the words of “${query}”. Try fewer or shorter words.`,
  empty: 'Enter the words that you are looking for.',
  contents: 'Contents',
  path: 'Where you are',
  missing: 'There is no such guide.',
  missingTitle: 'No such guide',
  all: 'All guides',
  notInstalled: 'The guides are not installed with this service. You find them in the folder docs of its repository.',
  next: 'Next',
  previous: 'Previous',
  table: 'Table',
  text: 'Text',
  // The way from a guide to what it is about.
  wallet: 'Your wallet',
  operations: 'Operations',
} as const;

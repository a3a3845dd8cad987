/** The texts of the pages of guides. */
export const GUIDES_TEXTS = {
  title: 'Guides',
  what: 'How to use this service, for those who build apps, own wallets, or run it.',
  search: 'Search the guides',
  find: 'Search',
  found: (count: number, query: string) => `${count === 30 ? 'The first 30' : count} results for “${query}”`,
  none: (query: string) => `Nothing in the guides has all words of “${query}”. Try fewer or shorter words.`,
  contents: 'Contents',
  all: 'All guides',
  path: 'Where you are',
  missing: 'There is no such guide.',
  missingTitle: 'No such guide',
  notInstalled: 'The guides are not installed with this service. They are in the folder docs of its repository.',
  next: 'Next',
  previous: 'Previous',
  table: 'Table',
  text: 'Text',
} as const;

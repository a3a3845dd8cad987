/** The texts of the list of apps, and of an app's home and settings. */
export const APPS_TEXTS = {
  title: 'Your apps',
  what: 'An app has keys, and its users have wallets. Calls of one app never touch the wallets of another.',
  open: 'Open',
  suspended: 'Suspended',
  none: 'You have no app yet. Name one to get a key and make a first call with play money.',
  newApp: 'New app',
  name: 'Name',
  nameHint: 'Your users see it when they connect their wallet.',
  create: 'Create the app',
  created: 'Created',
  roles: { owner: 'You are an owner', developer: 'You are a developer', viewer: 'You are a viewer' },
} as const;

export const HOME_TEXTS = {
  appId: 'App ID',
  created: 'Created',
} as const;

export const SETTINGS_TEXTS = {
  title: 'Settings',
  profile: 'What your users see',
  name: 'Name',
  redirectUris: 'Redirect addresses',
  redirectHint: 'Where the pages may lead your users back to, one on each line: https://app.example/connected',
  returnUri: 'After a payment, back to',
  returnHint: 'One of the addresses above. Empty: the first of them.',
  save: 'Save',
  done: new Map([
    ['created', 'The app was created.'],
    ['saved', 'The settings were saved.'],
  ]) as ReadonlyMap<string | null, string>,
} as const;

export const MODELS_TEXTS = {
  title: 'Models and prices',
  what: 'What this app may call, and what a call is charged. Prices include the margin of this service.',
  caption: 'Prices of a million tokens',
  columns: ['Model', 'Input', 'Cached input', 'Output', 'Fees', 'Context', 'Longest answer'],
  none: 'The operator of this service has no model in the catalogue yet.',
  aliasOf: 'stands for',
  above: (tokens: number) => `above ${tokens} tokens:`,
  alsoAt: (count: number) =>
    count === 1 ? 'another price if another provider serves' : `${count} other prices if other providers serve`,
  aCall: (amount: string) => `${amount} a call`,
  aSearch: (amount: string) => `${amount} a search`,
  noFee: 'none',
  more: (count: number) => `And ${count} more.`,
  asData: 'The same as data, with every kind of token, for programs:',
} as const;

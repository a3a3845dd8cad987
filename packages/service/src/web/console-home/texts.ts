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
  /** What was just done, by the `done` of the address. Any other value shows nothing. */
  done: new Map([
    [
      'registered',
      'Your account is ready. We have mailed you a link that verifies your e-mail: live keys need it, the sandbox does not.',
    ],
    ['verified', 'Your e-mail is verified.'],
  ]) as ReadonlyMap<string | null, string>,
  roles: { owner: 'You are an owner', developer: 'You are a developer', viewer: 'You are a viewer' },
} as const;

export const HOME_TEXTS = {
  appId: 'App ID',
  created: 'Created',
  period: 'Period',
  periods: { day: '24 hours', week: '7 days', month: '30 days' },
  calls: 'Calls',
  chargedCalls: (count: string) => `${count} charged`,
  spent: 'Spent by your users',
  played: 'Play money spent',
  refused: 'Refused',
  failed: 'Failed',
  charged: 'Charged',
  free: 'Free',
  firstByte: 'Until the first byte',
  total: 'Until the end',
  unknown: '–',
  ms: (ms: number) => (ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`),
  slowest: (duration: string) => `95 % within ${duration}`,
  share: (percent: number) => `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} % of calls`,
  chart: 'Calls by what became of them, in UTC',
  trouble: 'Refusals and failures',
  troubleWhat: 'By code, the most frequent first',
  code: 'Code',
  kinds: {
    served: 'served',
    refused: 'refused before a provider was asked; cost nothing',
    'provider-error': 'the provider failed; cost nothing',
    fault: 'this service failed; cost nothing',
  },
  noTrouble: 'Nothing was refused and nothing failed.',
  models: 'Models',
  modelsWhat: 'Those that cost most',
  model: 'Model',
  noModels: 'No calls yet.',
} as const;

/** What a new app still needs. */
export const SET_UP_TEXTS = {
  heading: (done: number, all: number) => `Set up: ${done} of ${all}`,
  done: 'done',
  testKey: { name: 'Make a test key', why: 'It calls the sandbox: play money, the same answers and errors.' },
  call: { name: 'Make a call in the sandbox', why: 'In the playground, or with the snippet on the page of the key.' },
  refusal: {
    name: 'Have a call refused on purpose',
    why: 'So that your app knows what to do when a user has no money: take a test user’s balance away.',
  },
  redirect: { name: 'Set a redirect address', why: 'Where users come back to after connecting their wallet.' },
  logo: { name: 'Show your logo', why: 'Users see it when they connect and pay.' },
  webhook: { name: 'Set up a webhook', why: 'Your app learns of top-ups and low balances without asking.' },
  liveKey: { name: 'Make a live key', why: 'From then on, calls cost your users real money.' },
  liveCall: { name: 'Make a live call', why: 'For a user who has connected a wallet.' },
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
  logo: 'Logo',
  logoOf: (name: string) => `Logo of ${name}`,
  logoField: 'Picture',
  logoHint: 'PNG, JPEG or WebP, at most 16 KiB and 1,024 pixels each way.',
  logoChoose: 'Choose a picture first.',
  logoSave: 'Show this picture',
  logoRemove: 'Remove the logo',
  done: new Map([
    ['created', 'The app was created.'],
    ['saved', 'The settings were saved.'],
    ['logo', 'The logo was saved.'],
    ['no-logo', 'The logo was removed.'],
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

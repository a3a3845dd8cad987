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

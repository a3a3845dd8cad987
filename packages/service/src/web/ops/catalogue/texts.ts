/** Apps that called models. `isMost`: there may be more. */
interface ConcernedApps {
  readonly apps: number;
  readonly isMost: boolean;
  readonly calls: string;
  readonly models: number;
}

/** The texts of the pages about the catalogue. */
export const CATALOGUE_TEXTS = {
  what: 'Where calls are sent and what they cost. A change takes effect everywhere within a second. Running calls keep the prices with which they began.',
  perMillion: 'Prices are the provider’s current prices for a million tokens. The margin is added to them.',
  count: (shown: number, all: number) => (shown === all ? `${all}` : `${shown} of ${all}`),
  states: { off: 'disabled', reserved: 'reserved', 'no-key': 'key missing here', free: 'free' },
  health: { closed: 'working', open: 'failing', testing: 'being tested', unused: 'unused' },
  simulator: 'this service’s own simulator',
  calls: (calls: string, failures: string) => `${calls} calls, ${failures} failed`,
  firstByte: (ms: number) => `${ms} ms to the first byte`,
  basisPoints: (points: number) => `${points / 100} %`,
  and: ' + ',
  aCall: (amount: string) => `${amount} a call`,
  done: new Map([
    ['model-gone', 'The model was removed. Its prices are kept, because receipts refer to them.'],
    ['provider-gone', 'The provider was removed.'],
    ['imported', 'The catalogue was changed.'],
  ]),
} as const;

export const MODEL_TEXTS = {
  resales: { open: 'every app', reserved: 'first-party apps only' },
  upstreamColumns: ['Provider', 'Its model', 'Input', 'Output', 'Margin', 'State', 'Test'],
  testOf: (name: string) => `Test ${name} with a call of one token`,
  costs: 'What a call costs now',
  costsWhat: (bytes: string, tokens: string, output: string) =>
    `This is for a request of ${bytes} bytes with ${tokens} tokens, and an answer of ${output} tokens. The hold is the amount that the wallet must contain.`,
  costColumns: ['Upstream', 'Hold', 'User pays', 'Provider charges', 'Margin'],
  historyStates: { past: 'past', current: 'in force', future: 'planned', withdrawn: 'withdrawn' },
  laterFrom: (from: string, upstream: string | undefined) =>
    upstream === undefined ? `From ${from}` : `From ${from}, ${upstream}`,
  aliasHint: 'Calls may use this name for the model. If it is an alias of another model, it will point to this one.',
  aliasNew: (alias: string, id: string) => `${alias} is a new name. Calls that use it will go to ${id}.`,
  aliasMoves: (alias: string, old: string, id: string) =>
    `Calls that use ${alias} now go to ${old}. They will go to ${id}, at its price and with its hold.`,
  aliasCalls: (old: string) =>
    `Calls are counted by model, so these are all calls to ${old}, by this alias, by another one or by its own name.`,
  removeAliasWhat: (alias: string) => `Calls that use ${alias} are refused from now on.`,
  removeWhat: (apps: number) =>
    `New calls to it are refused. ${apps === 0 ? 'No app has called it in 30 days.' : `${apps === 1 ? 'One app has' : `${apps} apps have`} called it in 30 days.`} Running calls continue.`,
  removeFirst: 'Remove its aliases first. Otherwise they would lead nowhere.',
  reason: 'Reason',
  reasonHint: 'It is kept in the audit trail.',
  done: new Map([
    ['saved', 'The entry was saved and is in force.'],
    ['alias', 'The alias now points to this model.'],
    ['alias-gone', 'The alias was removed.'],
  ]),
} as const;

export const EDIT_TEXTS = {
  entry: 'Entry (JSON)',
  entryHint: 'It has the form of the catalogue file. The guide to the catalogue explains every field.',
  noId: 'The entry must have an `id`, such as "acme.large-1".',
  otherId: 'The `id` cannot be changed. Add a new model for another one.',
  show: 'Show what it does',
  save: 'Save',
  back: 'Go back without saving',
  preview: 'What it does',
  nothing: 'The entry would not change. There is nothing to save.',
  absent: '–',
  gone: 'removed',
  apps: ({ apps, isMost, calls, models }: ConcernedApps) => {
    const what = models === 1 ? 'it' : 'these models';
    if (apps === 0) return `No app has called ${what} in the last 30 days.`;
    const who = apps === 1 ? 'One app has' : `${isMost ? 'At least ' : ''}${apps} apps have`;
    return `${who} called ${what} in the last 30 days, ${isMost ? 'at least ' : ''}${calls} times:`;
  },
  moreApps: (count: number, isMost: boolean) => `and ${count} more${isMost ? ' at least' : ''}`,
  exists: 'A model with this identifier already exists. Change that one.',
} as const;

export const PRICE_TEXTS = {
  what: (currency: string) =>
    `What the provider charges, in ${currency}, and your margin. Running calls keep the price with which they began.`,
  ofModel: 'the model: all upstreams that have no price of their own',
  rates: {
    inputMicrosPerMillion: 'Input, for a million tokens',
    cachedInputMicrosPerMillion: 'Cached input, for a million tokens',
    cacheWriteMicrosPerMillion: 'Written to the cache, for a million tokens',
    outputMicrosPerMillion: 'Output, for a million tokens',
    reasoningMicrosPerMillion: 'Reasoning, for a million tokens',
    microsPerCall: 'Fee for each call',
  },
  optional: 'If it is empty: the same as input or output.',
  noFee: 'If it is empty: no fee.',
  margin: 'Margin in percent',
  marginHint: 'For example 15 or 12.5. It is added to what the provider charges.',
  marginPerCall: 'Margin for each call',
  from: 'In force from (UTC)',
  fromHint: 'For example 2026-12-01 00:00. If it is empty: at once.',
  notAmount: (label: string) => `${label}: enter an amount such as 2.50, with at most six decimals.`,
  notShare: 'The margin must be a percentage with at most two decimals, such as 12.5.',
  others: 'This price also has tiers or further rates. They stay as they are. You can change them in the entry.',
} as const;

export const PROVIDER_TEXTS = {
  newTitle: 'Add a provider',
  address: 'Address',
  key: 'Key',
  entryHint: 'It has the form of the catalogue file. It names keys and never contains one.',
  againHint:
    'This is needed only if the host changes. A key is sent only to the hosts that the settings file PURSER_PROVIDER_KEYS lists for it.',
  againMissing: (origin: string, names: string) =>
    `Calls, and the key ${names}, would go to ${origin} from now on. Check that host, and enter the name of the key.`,
  test: 'Test with a call of one token',
  testWhat:
    'This makes a real call with the key of this provider. You pay for it, and no wallet is charged. It is recorded in the audit trail.',
  model: 'Its model',
  usageOf: (prompt: string, completion: string) => `${prompt} prompt tokens, ${completion} answer tokens`,
  servesAll: (count: number) => (count === 1 ? 'It serves one model:' : `It serves ${count} models:`),
  nameMissing: 'Enter a name for the provider.',
  exists: 'A provider with this name already exists. Change that one.',
  ms: (ms: number) => `${ms} ms`,
  rejectedHint: 'The provider was reached and did not reject the key. Some models refuse a limit of one token.',
  removeWhat: 'It serves no models, so no calls are affected.',
  removeFirst: 'This provider serves models. Change or remove those first.',
  done: new Map([['saved', 'The provider was saved. The change is in force.']]),
} as const;

export const IMPORT_TEXTS = {
  title: 'Import',
  compare: 'Show what it changes',
  pricesWhat:
    'Use the file api.json of models.dev, in US dollars. Each price is checked against a second list. Prices that look wrong are refused, and nothing is applied before you have seen it.',
  unchecked: 'Models that the second list does not have to confirm',
  uncheckedHint: 'Their identifiers, separated by spaces.',
  catalogueWhat: 'It replaces the current catalogue. Entries that it does not contain are removed.',
  changes: (count: number) => (count === 1 ? 'One entry changes' : `${count} entries change`),
  kinds: { provider: 'Provider', model: 'Model', alias: 'Alias' },
  changed: { added: 'added', removed: 'removed', changed: 'changed' },
  applyWhat:
    'The changes take effect everywhere within a second. Running calls keep their prices. If the service has a catalogue file, change it too: when that file changes, it replaces everything.',
} as const;

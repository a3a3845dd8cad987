import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CatalogueFileError, parseCatalogueFile } from '#catalogue/catalogue-file.ts';

const MODEL = {
  id: 'acme.large-1',
  provider: 'upstream',
  providerModel: 'large-upstream',
  resale: 'open',
  price: { inputMicrosPerMillion: 1, outputMicrosPerMillion: 2 },
  contextTokens: 128_000,
  maxOutputTokens: 1_000,
};
const EMBEDDINGS = {
  apis: ['embeddings'],
  price: { inputMicrosPerMillion: 1, outputMicrosPerMillion: 0 },
  maxOutputTokens: 1,
  dimensionsMax: 1_536,
};
const FILE = {
  providers: { upstream: { kind: 'openai-compatible', baseUrl: 'https://api.example.test/v1' } },
  models: [MODEL],
  aliases: { large: 'acme.large-1' },
};

function parse(file: unknown) {
  return parseCatalogueFile(JSON.stringify(file));
}

function withModel(changes: Readonly<Record<string, unknown>>) {
  return { ...FILE, models: [{ ...MODEL, ...changes }] };
}

test('MO-06 a complete file is accepted with documented defaults', () => {
  const [model] = parse(FILE).models;
  assert.deepEqual(model, {
    ...MODEL,
    enabled: true,
    free: false,
    marginBasisPoints: 0,
    minOutputTokens: 16,
    promptOverheadTokens: 512,
    timeoutMs: 600_000,
  });
  assert.equal(parse(FILE).providers['upstream']?.onAbandon, 'cancel');
});

test('CC-11 a reasoning model may be drained, or cancelled if fully visible', () => {
  const drains = { reasonsOutOfSight: true, onAbandon: 'drain' };
  const shows = { parameters: ['reasoning_effort'], reasonsOutOfSight: false, onAbandon: 'cancel' };
  for (const changes of [drains, shows]) {
    assert.equal(parse(withModel(changes)).models[0]?.onAbandon, changes.onAbandon);
  }
});

test('MO-06 an invalid address gets one complaint', () => {
  assert.throws(
    () => parse(withProvider({ baseUrl: 'api' })),
    (fault: CatalogueFileError) => fault.faults.length === 1,
  );
});

test('MO-06 invalid JSON in a catalogue is refused with its line', () => {
  assert.throws(() => parseCatalogueFile('{\n  "models": [],\n}'), /not valid JSON \(line 3 column 1\)\.$/);
  assert.throws(() => parseCatalogueFile('{'), /not valid JSON/);
});

function withProvider(changes: Readonly<Record<string, unknown>>) {
  return { ...FILE, providers: { upstream: { ...FILE.providers.upstream, ...changes } } };
}

const FAULTS: readonly (readonly [string, unknown, RegExp])[] = [
  ['is no object', [], /must be an object/],
  ['has a field that nobody knows', { ...FILE, prices: {} }, /prices/],
  ['has a model with a field that nobody knows', withModel({ prize: 1 }), /prize/],
  ['names a model twice', { ...FILE, models: [MODEL, MODEL] }, /models\.1\.id: .*twice/],
  ['has an identifier without a dot', withModel({ id: 'large' }), /models\.0\.id/],
  ['has an identifier with a space', withModel({ id: 'acme.large 1' }), /models\.0\.id/],
  ['has an identifier whose owner has capitals', withModel({ id: 'Acme.large' }), /models\.0\.id/],
  ['has an identifier with a slash', withModel({ id: 'acme.org/large' }), /models\.0\.id/],
  [
    'has an alias that begins as the outcomes of the sandbox do',
    { ...FILE, aliases: { 'sandbox/error': 'acme.large-1' } },
    /aliases\.sandbox\/error: .*sandbox/,
  ],
  ['has a model of a provider that is not there', withModel({ provider: 'nobody' }), /models\.0\.provider/],
  ['has a model without a price', withModel({ price: undefined }), /models\.0\.price: .*free/],
  ['has a price of nothing', withModel({ price: { inputMicrosPerMillion: 0, outputMicrosPerMillion: 0 } }), /free/],
  ['has a free model with a price', withModel({ free: true }), /models\.0\.free/],
  [
    'has a free model whose cached input has a price',
    withModel({
      free: true,
      price: { inputMicrosPerMillion: 0, cachedInputMicrosPerMillion: 1, outputMicrosPerMillion: 0 },
    }),
    /models\.0\.free/,
  ],
  [
    'has a free model whose cache has a price to write to',
    withModel({ free: true, price: undefined, cacheWriteMicrosPerMillion: 1 }),
    /models\.0\.free/,
  ],
  [
    'has only a price to write to a cache',
    withModel({ price: undefined, cacheWriteMicrosPerMillion: 1 }),
    /models\.0\.price/,
  ],
  ['has a price below zero', withModel({ price: { inputMicrosPerMillion: -1, outputMicrosPerMillion: 2 } }), /price/],
  [
    'has a price that is not whole',
    withModel({ price: { inputMicrosPerMillion: 1.5, outputMicrosPerMillion: 2 } }),
    /price/,
  ],
  ['has a price without output', withModel({ price: { inputMicrosPerMillion: 1 } }), /outputMicrosPerMillion/],
  ['has a margin below zero', withModel({ marginBasisPoints: -1 }), /marginBasisPoints/],
  [
    'cancels a model that reasons out of sight',
    withModel({ reasonsOutOfSight: true, onAbandon: 'cancel' }),
    /models\.0\.onAbandon: must be "drain": a model that reasons out of sight/,
  ],
  ['names an interface twice', withProvider({ apis: ['chat', 'chat'] }), /providers\.upstream\.apis: .*once/],
  ['names no interface', withModel({ apis: [] }), /models\.0\.apis/],
  ['names an interface that nobody knows', withProvider({ apis: ['completions'] }), /providers\.upstream\.apis/],
  [
    'gives an interface to a kind that has one',
    { ...FILE, providers: { upstream: { kind: 'mistral' } }, models: [{ ...MODEL, apis: ['responses'] }] },
    /models\.0\.apis: is only for providers of kind `openai-compatible` or `azure`/,
  ],
  [
    'mixes embeddings with another interface',
    withModel({ ...EMBEDDINGS, apis: ['chat', 'embeddings'] }),
    /models\.0\.apis: must have `embeddings` alone/,
  ],
  [
    'makes embeddings at a kind that has none here',
    { ...FILE, providers: { upstream: { kind: 'anthropic' } }, models: [{ ...MODEL, ...EMBEDDINGS }] },
    /models\.0\.apis: is only for providers of kind/,
  ],
  [
    'makes embeddings at some of its upstreams',
    withModel({
      ...EMBEDDINGS,
      provider: undefined,
      providerModel: undefined,
      upstreams: [
        { provider: 'upstream', providerModel: 'vectors' },
        { provider: 'upstream', providerModel: 'text', apis: ['chat'] },
      ],
    }),
    /models\.0\.apis: .*for all upstreams, or for none/,
  ],
  [
    'makes vectors of an unknown size',
    withModel({ ...EMBEDDINGS, dimensionsMax: undefined }),
    /models\.0\.dimensionsMax: is required/,
  ],
  ['has vectors and makes text', withModel({ dimensionsMax: 8 }), /models\.0\.dimensionsMax: is only for/],
  [
    'has a price for the output of embeddings',
    withModel({ ...EMBEDDINGS, price: MODEL.price }),
    /models\.0\.price\.outputMicrosPerMillion: must be 0/,
  ],
  [
    'will have a price for the output of embeddings',
    withModel({ ...EMBEDDINGS, priceChanges: [{ from: '2030-01-01T00:00:00Z', price: MODEL.price }] }),
    /models\.0\.priceChanges\.0\.price\.outputMicrosPerMillion: must be 0/,
  ],
  [
    'leaves a model that takes `reasoning_effort` to a provider that cancels',
    withModel({ parameters: ['reasoning_effort'] }),
    /models\.0\.onAbandon: .*"reasonsOutOfSight": false/,
  ],
  ['has another right of resale', withModel({ resale: 'closed' }), /resale/],
  ['defaults to more output than it allows', withModel({ defaultOutputTokens: 1_001 }), /defaultOutputTokens/],
  ['demands more output than it allows', withModel({ minOutputTokens: 1_001 }), /minOutputTokens/],
  ['has an alias that is an identifier', { ...FILE, aliases: { 'acme.large-1': 'acme.large-1' } }, /aliases\.acme/],
  ['has an alias of nothing', { ...FILE, aliases: { large: 'acme.none' } }, /no model/],
  ['has an alias of an alias', { ...FILE, aliases: { large: 'acme.large-1', big: 'large' } }, /no model/],
  [
    'has a provider at no address',
    { ...FILE, providers: { upstream: { kind: 'openai-compatible', baseUrl: 'api' } } },
    /baseUrl/,
  ],
  [
    'has a provider at a file',
    { ...FILE, providers: { upstream: { kind: 'openai-compatible', baseUrl: 'file:///x' } } },
    /baseUrl/,
  ],
  ['has a provider whose address holds a password', withProvider({ baseUrl: 'https://a:b@api.test/v1' }), /baseUrl/],
  ['has a provider whose address holds a query', withProvider({ baseUrl: 'https://api.test/v1?key=x' }), /baseUrl/],
  ['sends a provider our own secret', withProvider({ apiKeyEnv: 'PURSER_SECRET' }), /apiKeyEnv/],
  ['sends a provider the password of our database', withProvider({ apiKeyEnv: 'DATABASE_URL' }), /apiKeyEnv/],
  ['has a provider with a secret header', withProvider({ headers: { 'x-api-key': 'k' } }), /x-api-key: .* `apiKey`/],
  [
    'has a provider with a secret in a header',
    withProvider({ headers: { 'x-team': 'Bearer SECRET-1' } }),
    /headers\.x-team: must not look like a secret[^\n]*`authHeader`\.$/,
  ],
  ['has a provider with a secret in its query', withProvider({ query: { key: 'k' } }), /query\.key/],
  ['has a provider that writes a header of ours', withProvider({ headers: { 'content-length': '1' } }), /headers/],
  ['has a provider that sends its key as a host', withProvider({ authHeader: 'host' }), /authHeader/],
  ['has a provider with a path to another host', withProvider({ path: '//evil.test' }), /path/],
  ['has a provider with a path that climbs', withProvider({ path: '/../v1' }), /path/],
  ['has a provider that decides the limit', withProvider({ extraBody: { max_tokens: 1 } }), /extraBody\.max_tokens/],
  [
    'has a provider that goes on from another call',
    withProvider({ extraBody: { previous_response_id: 'resp_1' } }),
    /extraBody\.previous_response_id: is decided/,
  ],
  ['has a provider that decides the tools', withProvider({ extraBody: { tools: [] } }), /extraBody\.tools/],
  [
    'has a provider with a secret in its body',
    withProvider({ extraBody: { options: [{ value: 'sk-SECRET-1' }] } }),
    /extraBody\.options: must not hold a secret/,
  ],
  ['has a provider of another kind', { ...FILE, providers: { upstream: { kind: 'magic' } } }, /kind/],
];

for (const [what, file, says] of FAULTS) {
  test(`MO-06 a file that ${what} is refused with the fault’s place`, () => {
    assert.throws(
      () => parse(file),
      (fault) => fault instanceof CatalogueFileError && says.test(fault.message) && !/SECRET-1/.test(fault.message),
    );
  });
}

test('MO-06 all faults of a file are reported together', () => {
  const file = { ...withModel({ id: 'large', resale: 'closed', marginBasisPoints: -1 }), extra: 1 };
  assert.throws(
    () => parse(file),
    (fault) =>
      fault instanceof Error &&
      /id:/.test(fault.message) &&
      /resale:/.test(fault.message) &&
      /extra/.test(fault.message),
  );
});

test('MO-06 an entry accepts vendor differences, but no secret', () => {
  const options = {
    authHeader: 'api-key',
    path: '/v2/chat',
    query: { 'api-version': '2024-10-21' },
    headers: { 'openai-organization': 'org-a1B2c3D4e5F6g7H8i9J0k1L2', 'http-referer': 'https://pay.example.com/' },
    extraBody: { mode: 'skip', provider: { order: ['a/b'] }, chat_template_kwargs: { enable_thinking: false } },
    streamOptions: false,
    developerRole: 'system',
  };
  const { upstream } = parse(withProvider(options)).providers;
  for (const [name, value] of Object.entries(options))
    assert.deepEqual(upstream?.[name as keyof typeof upstream], value);
});

test('WI-11 a model of embeddings has no output, and the kinds that serve them are accepted', () => {
  const mistral = { ...FILE, providers: { upstream: { kind: 'mistral' } }, models: [{ ...MODEL, ...EMBEDDINGS }] };
  const ofProvider = withProvider({ apis: ['embeddings'] });
  const byProvider = { ...ofProvider, models: [{ ...MODEL, ...EMBEDDINGS, apis: undefined }] };
  for (const file of [withModel(EMBEDDINGS), mistral, byProvider]) {
    assert.partialDeepStrictEqual(parse(file).models[0], { maxOutputTokens: 1, dimensionsMax: 1_536 });
  }
});

test('WI-03 an entry says which interfaces a provider serves, and for a model', () => {
  const upstreams = [{ provider: 'upstream', providerModel: 'newest', apis: ['responses'] }];
  const model = { ...MODEL, provider: undefined, providerModel: undefined, upstreams };
  const file = parse({ ...withProvider({ apis: ['chat', 'responses'] }), models: [model] });
  const { upstream } = file.providers;
  assert.deepEqual(upstream?.kind === 'openai-compatible' && upstream.apis, ['chat', 'responses']);
  assert.deepEqual(file.models[0]?.upstreams, upstreams);
});

test('MO-06 a free model needs no price', () => {
  assert.equal(parse(withModel({ price: undefined, free: true })).models[0]?.free, true);
});

test('MO-06 text that is not JSON is refused', () => {
  assert.throws(() => parseCatalogueFile('{'), CatalogueFileError);
});

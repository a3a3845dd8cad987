import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { catalogueAt } from '../../support/catalogue.ts';
import type { Reply } from '../../support/client.ts';
import { newOperator } from '../../support/control.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { trailOf } from '../../support/trail.ts';

/** What a catalogue edit may name, and what it writes. */

const FILE = '/operator/catalogue';
const shell = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', apiKeyEnv: 'SHELL_TOKEN' };
const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-keys-'));
after(() => rmSync(folder, { recursive: true }));
const PURSER_PROVIDER_KEYS = path.join(folder, 'keys.json');
writeFileSync(PURSER_PROVIDER_KEYS, '{"bound":{"env":"BOUND_API_KEY","hosts":["http://127.0.0.1:9"]}}');
const stage = await setStage({
  environment: { PURSER_PROVIDER_KEYS },
  catalogue: ({ providers, ...rest }) => ({ ...rest, providers: { ...providers, shell } }),
});
const { service } = stage;
const scenarios = scenariosOf(stage);
const operator = await newOperator(service);

interface File {
  readonly providers: Readonly<Record<string, unknown>>;
  readonly models: readonly Readonly<Record<string, unknown>>[];
  readonly aliases: Readonly<Record<string, string>>;
}

async function read(): Promise<File> {
  return (await operator.get(200, 'GET', FILE)) as unknown as File;
}

/** The version of every row, by table and name. */
async function rowVersions(): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ name: string; version: string }>(service)`
    select 'provider ' || name as name, xmin::text as version from catalogue.providers
    union all select 'model ' || model_id, xmin::text from catalogue.models
    union all select 'alias ' || alias, xmin::text from catalogue.aliases
    union all select 'price ' || price_id, xmin::text from catalogue.prices`;
  return new Map(rows.map(({ name, version }) => [name, version]));
}

/** The rows that an edit wrote or removed. */
async function rowsWrittenBy(edit: () => Promise<unknown>): Promise<readonly string[]> {
  const before = await rowVersions();
  await edit();
  const after = await rowVersions();
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
}

const whole = await read();
const EDIT = { as: operator, request: `PUT ${FILE}`, body: whole };

/** The catalogue with other providers, and what is told about one of them. */
const providing = (changes: object) => ({ body: { providers: { ...whole.providers, ...changes } } });
const refused = (changes: object, field: string) => ({ ...providing(changes), param: `providers.${field}` });
const at = (port: number, fields: object) => ({
  ...shell,
  apiKeyEnv: undefined,
  baseUrl: `http://127.0.0.1:${port}/v1`,
  ...fields,
});
const vertex = { kind: 'vertex', project: 'shop-1', location: 'europe-west4' };
const bedrock = { kind: 'bedrock', region: 'eu-central-1' };

scenarios(
  { ...EDIT, code: 'BAD_REQUEST' },
  ['HOME', 'AWS_SECRET_ACCESS_KEY', 'DATABASE_URL', 'PURSER_SECRET', 'PURSER_X_API_KEY', 'API_KEY'].map((name) => ({
    name: `CP-05 an operator cannot have ${name} sent to a provider as its key`,
    ...refused({ mine: at(9, { apiKeyEnv: name }) }, 'mine.apiKeyEnv'),
  })),
);

scenarios({ ...EDIT, name: 'MO-11 a key to a new or forbidden address', code: 'BAD_REQUEST' }, [
  refused({ mine: { ...vertex, credentialsFile: '/etc/purser/vertex.json' } }, 'mine.credentialsFile'),
  refused({ mine: { ...vertex, endpoint: 'http://127.0.0.1:9' } }, 'mine.endpoint'),
  refused({ mine: { ...bedrock, endpoint: 'http://127.0.0.1:9' } }, 'mine.endpoint'),
  refused({ mine: at(9, { apiKeyEnv: 'MINE_API_KEY' }) }, 'mine.apiKeyEnv'),
  refused({ shell: at(10, { apiKeyEnv: 'SHELL_TOKEN' }) }, 'shell.apiKeyEnv'),
  refused({ constructor: at(10, { apiKeyEnv: 'SHELL_TOKEN' }) }, 'constructor.apiKeyEnv'),
  refused({ shell: { ...shell, baseUrl: 'https://127.0.0.1:9/v1' } }, 'shell.apiKeyEnv'),
  refused({ mine: at(10, { apiKeyEnv: 'BOUND_API_KEY' }) }, 'mine.apiKeyEnv'),
  refused({ mine: at(10, { apiKey: 'bound' }) }, 'mine.apiKey'),
  refused({ mine: at(9, { apiKeys: ['bound', 'unknown'] }) }, 'mine.apiKeys.1'),
]);

scenarios(
  { ...EDIT, name: 'CP-05 a provider’s address is a plain one', code: 'BAD_REQUEST' },
  [
    'http://a:b@h/v1',
    'http://a@h/v1',
    'http://h/v1?q',
    'http://h/v1#f',
    'http://h/v1?',
    'ftp://h',
    // Addresses that people read as another host than a URL has.
    'http://h\\@evil.test/v1',
    'http:h/v1',
    'http://h。test/v1',
    'http://h%2etest/v1',
    'http://*.h.test/v1',
    'http://.h.test/v1',
  ].map((baseUrl) => ({ name: baseUrl, ...refused({ mine: { kind: 'openai-compatible', baseUrl } }, 'mine.baseUrl') })),
);

test('MO-11 refused providers leave the catalogue as it was', async () => assert.deepEqual(await read(), whole));

scenarios({ ...EDIT, name: 'MO-11 an edit that sends keys where they go' }, [
  providing({ mine: vertex }),
  providing({ mine: bedrock }),
  providing({ shell: { ...shell, onAbandon: 'drain' } }),
  providing({ copy: { ...shell, baseUrl: 'http://127.0.0.1:9/v2' } }),
  providing({ mine: at(9, { apiKey: 'bound' }) }),
  providing({ mine: at(9, { apiKeys: ['bound'] }) }),
  providing({ mine: at(9, { apiKeyEnv: 'BOUND_API_KEY' }) }),
  {},
]);

test('MO-05 a catalogue edit writes only the rows that it changes', async () => {
  const file = await read();
  const [first, ...others] = file.models;
  const entry = { ...first, price: { inputMicrosPerMillion: 1, outputMicrosPerMillion: 2 }, maxOutputTokens: 900 };
  const target = { target: 'acme.secret-1' };
  const aliasRows = await rowsWrittenBy(() => operator.get(200, 'PUT', '/operator/aliases/large', target));
  assert.deepEqual(aliasRows, ['alias large']);
  const modelRows = await rowsWrittenBy(() =>
    operator.get(200, 'PUT', `/operator/models/${String(first?.['id'])}`, entry),
  );
  assert.deepEqual(modelRows.map((name) => name.replace(/\d+$/, '')).toSorted(), ['model acme.large-', 'price ']);
  const samePrice = await rowsWrittenBy(() =>
    operator.get(200, 'PUT', `/operator/models/${String(first?.['id'])}`, { ...entry, maxOutputTokens: 800 }),
  );
  assert.deepEqual(samePrice, ['model acme.large-1']);
  const goneRows = await rowsWrittenBy(() =>
    operator.get(200, 'PUT', FILE, { ...file, models: others, aliases: { off: 'acme.off-1' } }),
  );
  assert.deepEqual(goneRows.toSorted(), ['alias large', 'alias secret', 'model acme.large-1']);
  const backRows = await rowsWrittenBy(() => operator.get(200, 'PUT', FILE, file));
  assert.equal(backRows.length, 4, backRows.join()); // Two aliases, the model, and its changed price.
  assert.deepEqual(await read(), file);
});

test('CP-05 an edit that changes nothing leaves no trace', async () => {
  const file = await read();
  const [model] = file.models;
  const id = String(model?.['id']);
  const rows = await sql(service)`select generation from db.generations where topic = 'catalogue'`;
  const lines = async () => Promise.all(['catalogue', id, 'large'].map((subject) => trailOf(operator, subject)));
  const before = await lines();
  const written = await rowsWrittenBy(async () => {
    await operator.get(200, 'PUT', FILE, file);
    await operator.get(200, 'PUT', FILE, catalogueWithoutDefaults(file));
    await operator.get(200, 'PUT', `/operator/models/${id}`, model);
    await operator.get(200, 'PUT', '/operator/aliases/large', { target: 'acme.large-1' });
  });
  assert.deepEqual([written, await lines()], [[], before]);
  const again = await service.database.owner.query(`select generation from db.generations where topic = 'catalogue'`);
  assert.deepEqual(again.rows, rows);
});

/** Returns the catalogue as a person writes it by hand: fields with their documented value are left out. */
function catalogueWithoutDefaults(file: File): unknown {
  const models = file.models.map(
    ({ free: _free, minOutputTokens: _least, promptOverheadTokens: _most, ...rest }) => rest,
  );
  return { ...file, models };
}

test('CP-05 a catalogue edit may give its reason in the query', async () => {
  const entry = { ...(await read()).models[0], id: 'acme.reasoned' };
  const edits = [
    ['PUT', '/operator/models/acme.reasoned', entry, 200],
    ['PUT', '/operator/aliases/reasoned', { target: 'acme.reasoned' }, 200],
    ['DELETE', '/operator/aliases/reasoned', undefined, 204],
    ['DELETE', '/operator/models/acme.reasoned', undefined, 204],
  ] as const;
  for (const [method, path, body, status] of edits) {
    await operator.get(status, method, `${path}?reason=new%20contract`, body);
  }
  const file = await read();
  await operator.get(200, 'PUT', `${FILE}?reason=new%20contract`, { ...file, aliases: {} });
  await operator.get(200, 'PUT', FILE, file);
  const lines = [...(await trailOf(operator, 'acme.reasoned')), ...(await trailOf(operator, 'reasoned'))];
  assert.deepEqual(
    lines.map(({ reason }) => reason),
    edits.map(() => 'new contract'),
  );
  const [last, before] = await trailOf(operator, 'catalogue');
  assert.deepEqual([last?.reason, before?.reason], [null, 'new contract']);
  const reply = await operator.ask('PUT', `${FILE}?reason=`, file);
  assertRefusal(reply, { code: 'BAD_REQUEST', param: 'reason' }, reply.text);
});

test('CP-05 an alias missing from the catalogue is not found', async () => {
  for (const alias of ['constructor', 'toString', 'hasOwnProperty']) {
    assertRefusal(await operator.ask('DELETE', `/operator/aliases/${alias}`), { code: 'NOT_FOUND' });
    assert.deepEqual(await trailOf(operator, alias), []);
  }
});

test('CP-05 simultaneous edits of a large catalogue all succeed', async () => {
  const { models, ...rest } = catalogueAt('http://127.0.0.1:9/v1');
  const many = Array.from({ length: 600 }, (_unused, index) => ({ ...models[0], id: `many.model-${index}` }));
  await operator.get(200, 'PUT', FILE, { ...rest, models: [...models, ...many] });
  // One that has waited for four seconds, or five for a connection, is told to come again: on a busy machine an edit takes a second.
  const put = async (index: number, more = 8): Promise<Reply> => {
    const reply = await operator.ask('PUT', `/operator/aliases/many-${index}`, { target: `many.model-${index}` });
    return reply.status !== 200 && more > 0 && reply.headers.has('retry-after') ? put(index, more - 1) : reply;
  };
  const replies = await Promise.all(Array.from({ length: 8 }, (_unused, index) => put(index)));
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
  const { aliases } = await read();
  assert.equal(Object.keys(aliases).filter((alias) => alias.startsWith('many-')).length, 8);
});

test('CC-11 an entry older than the check drains and blocks no change', async () => {
  await sql(service)`update catalogue.models
    set settings = settings || '{"reasonsOutOfSight": true, "onAbandon": "cancel"}'
    where model_id = 'acme.large-1'`;
  const { aliases } = await read();
  assert.ok((await read()).models.some(({ id, onAbandon }) => id === 'acme.large-1' && onAbandon === 'drain'));
  const changed = { ...(await read()), aliases: { ...aliases, other: 'acme.large-1' } };
  assert.equal((await operator.ask('PUT', FILE, changed)).status, 200);
  const models = changed.models.map((model) => ({ ...model, onAbandon: 'cancel' }));
  const refused = await operator.ask('PUT', FILE, { ...changed, models });
  assertRefusal(refused, { code: 'BAD_REQUEST', param: 'models[0].onAbandon' }, refused.text);
});

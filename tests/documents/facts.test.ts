import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ERROR_STATUS } from '../../packages/contract/src/errors.ts';
import { chargeOf } from '../../packages/service/src/catalogue/price.ts';
import { VISIBLE_MESSAGE_FIELDS } from '../../packages/service/src/providers/anthropic/visible.ts';
import { VISIBLE_RESPONSE_FIELDS } from '../../packages/service/src/providers/openai-responses/visible-items.ts';
import { VISIBLE_FIELDS } from '../../packages/service/src/providers/answers/visible-fields.ts';
import { ROOT } from '../../tools/toolchain.ts';
import {
  allDocuments,
  deadLinks,
  missingInComments,
  missingNames,
  namesIn,
  readDocument,
  rowsUnder,
  SOURCES,
} from './documents.ts';
import { GUIDES, settingNames } from '../support/guide-blocks.ts';

/** Compares the names in the guides with the names in the code. */

const OPERATOR = 'docs/guides/operator';

/** Documents whose blocks other tests run or generate. */
const ELSEWHERE = [
  'docs/CLIENTS.md', // tests/structure/clients-document.test.ts
  'docs/guides/coding-agents.md', // coding-agents.test.ts
  'packages/purser-python/README.md', // tests/proofs/sdk/python.test.ts
  'packages/sdk/README.md', // tests/proofs/sdk/readme.test.ts
  'packages/upstream-http/README.md', // packages/upstream-http/src/readme.test.ts
];

test('ER-01 the guide lists every code with its status', () => {
  const rows = rowsUnder('docs/guides/app-developer.md', '## Errors');
  const told = Object.fromEntries(rows.map(([code = '', status]) => [namesIn(code)[0], Number(status)]));
  assert.deepEqual(told, ERROR_STATUS);
});

/** Variables of the reader's shell that begin otherwise, because they are not of this service. */
const FOREIGN = ['DATABASE_URL'];

test('OP-18 documents and `npm start` share their variables', () => {
  const used = new Set<string>();
  for (const file of allDocuments()) {
    for (const [, name = ''] of readDocument(file).matchAll(/\$\{?([A-Z][A-Z_]+)/g)) used.add(name);
  }
  const others = [...used].filter((name) => !name.startsWith('PURSER_') && !FOREIGN.includes(name));
  assert.deepEqual(others, []);
  const banner = readFileSync(path.join(ROOT, 'packages/service/src/app/start/banner.ts'), 'utf8');
  const printed = [...banner.matchAll(/ (PURSER_[A-Z_]+)=\$/g)].map(([, name = '']) => name);
  const made = ['PURSER_SESSION_TOKEN', 'PURSER_OPERATOR_TOKEN', 'PURSER_WEBHOOK_SECRET']; // By commands of the guides.
  const guide = readDocument('docs/guides/app-developer.md').matchAll(/\$(PURSER_[A-Z_]+)/g);
  const needed = new Set([...guide].map(([, name = '']) => name));
  assert.deepEqual(
    [...needed].filter((name) => !printed.includes(name) && !made.includes(name)),
    [],
  );
});

test('OP-02 the guide lists exactly the settings read', () => {
  const told = rowsUnder(`${OPERATOR}/settings.md`, '## Settings').flatMap(([name = '']) => namesIn(name));
  assert.deepEqual(told.toSorted(), [...settingNames()].toSorted());
});

test('CC-21 the document lists exactly an answer’s fields', () => {
  const told = rowsUnder('docs/PARAMETERS.md', '## What an answer holds')
    .flatMap((row) => row.flatMap(namesIn))
    .flatMap((name) => name.split('.'));
  const named = (fields: object): readonly string[] =>
    Object.entries(fields).flatMap(([name, inner]) => [name, ...(typeof inner === 'object' ? named(inner) : [])]);
  const seen = [VISIBLE_FIELDS, VISIBLE_RESPONSE_FIELDS, VISIBLE_MESSAGE_FIELDS]
    .flatMap(Object.values<object>)
    .flatMap(named);
  assert.deepEqual([...new Set(told)].toSorted(), [...new Set(seen)].toSorted());
});

test('OP-06 the guide’s log lines exist with their levels', () => {
  const sources = globSync('packages/service/src/**/*.ts', { cwd: ROOT });
  const code = sources.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');
  for (const [cell = '', level = ''] of rowsUnder(`${OPERATOR}/log.md`, '## Log lines')) {
    const [line = ''] = namesIn(cell);
    const written = new RegExp(`log\\.${level}\\([^;]*?'${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
    assert.match(code, written, `${level}: ${line}`);
  }
});

test('ON-02 the guide subscribes to exactly our Stripe events', () => {
  const EVENT = /`((?:checkout|payment_intent|charge|refund)\.(?!ts)[a-z_.]+)`/g;
  const eventsIn = (document: string) =>
    [...readDocument(document).matchAll(EVENT)].map(([, name = '']) => name).toSorted();
  const events = eventsIn('packages/service/src/payments/README.md');
  assert.ok(events.length > 0);
  assert.deepEqual(eventsIn(`${OPERATOR}/payments-and-mail.md`), events);
});

test('CC-11 the owner guide’s examples state real costs', () => {
  const price = {
    priceId: 1n,
    inputMicrosPerMillion: 400_000n,
    cachedInputMicrosPerMillion: 400_000n,
    cacheWriteMicrosPerMillion: 400_000n,
    outputMicrosPerMillion: 1_600_000n,
    marginBasisPoints: 1_500n,
  };
  const EXAMPLE = /: (\d+) × 0\.40 \+ (\d+) × 1\.60 = .* rounded up: 0\.(\d{6})\./g;
  const examples = [...readDocument('docs/guides/wallet-owner.md').matchAll(EXAMPLE)];
  assert.equal(examples.length, 2);
  for (const [, prompt, completion, told] of examples) {
    const tokens = { promptTokens: Number(prompt), completionTokens: Number(completion) };
    assert.equal(
      chargeOf(price, { ...tokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }),
      BigInt(told ?? ''),
    );
  }
});

for (const document of allDocuments()) {
  test(`OP-18 ${document}: each link has a target`, () => assert.deepEqual(deadLinks(document), []));
}

/** Documents for people who do not see the code. */
const FOR_USERS = /^docs\/(?:guides\/|SANDBOX)/;

for (const document of allDocuments().filter((name) => !FOR_USERS.test(name))) {
  test(`OP-18 ${document}: each file that it names exists`, () => assert.deepEqual(missingNames(document), []));
}

/** Files whose comments are about files that they make or made. */
const OTHER_FILES =
  /^(?:packages\/service\/(?:migrations\/|schema\.sql)|tests\/(?:fixtures|proofs\/toolchain|structure)\/)/;

test('OP-18 each file that a comment names exists', () => {
  const missing = SOURCES.filter((file) => !OTHER_FILES.test(file)).flatMap((file) =>
    missingInComments(file).map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test('OP-18 each document with code has a test', () => {
  const withCode = allDocuments().filter((document) => /^```\w/m.test(readDocument(document)));
  assert.deepEqual(
    withCode.filter((document) => !GUIDES.includes(document) && !ELSEWHERE.includes(document)),
    [],
  );
});

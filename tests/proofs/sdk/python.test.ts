import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import {
  findPython,
  installWheel,
  PYTHON_CLIENT_MODULES,
  PYTHON_PACKAGE,
  reasonToSkip,
  runPython,
} from '../../support/python-package.ts';
import { z } from 'zod';
import { balanceSchema, connectLinkSchema, usageSummarySchema } from '../../../packages/contract/src/data-plane.ts';
import { ERROR_STATUS } from '../../../packages/contract/src/errors.ts';
import { receiptSchema } from '../../../packages/contract/src/usage.ts';
import { EVENT_TYPES } from '../../../packages/contract/src/webhooks.ts';
import { ROOT } from '../../../tools/toolchain.ts';
import { blocksOf } from '../../support/sdk-package.ts';
import { REDIRECT_URI } from '../../support/service.ts';
import { setSimulatedStage } from '../../support/simulated-service.ts';

/** The Python package, installed from its wheel, against the real service. */

const python = findPython();
const hasPip = typeof python !== 'string' && python.modules.includes('pip');
const CLASSES = {
  openai: 'OpenAITest',
  anthropic: 'AnthropicTest',
  langchain_openai: 'LangChainTest',
  litellm: 'LiteLLMTest',
  pydantic_ai: 'PydanticAITest',
} as const;
const TESTS = path.join(PYTHON_PACKAGE, 'tests');

const ANSWERED = /simulator/;
/** The expected output of the README's blocks under each heading. */
const TOLD: Readonly<Record<string, readonly RegExp[]>> = {
  'Quick start': [ANSWERED, /simulator[^]* EUR$/],
  'Other clients': [ANSWERED, ANSWERED, ANSWERED, ANSWERED, /^402 PAYMENT_REQUIRED True$/],
  Streams: [ANSWERED],
  'What a call cost': [/^True True$/],
  Errors: [/^PAYMENT_REQUIRED and a link$/],
  Wallets: [/^True EUR True True$/, /^EUR$/],
  Webhooks: [/^anna has paid\n1 204\n2 204$/],
};
const blocks = blocksOf('packages/purser-python/README.md');
const scripts = blocks.filter(({ language, file }) => language === 'python' && file === undefined);
/** The fields of each class with its nested ones; an optional one has a question mark. */
const SHAPES = `
import dataclasses, json, typing
from purser import errors, wire

def paths(kind):
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        name = wire.wire_name(field.name) + ("" if field.default is dataclasses.MISSING else "?")
        hint = hints[field.name]
        nested = [one for one in (hint, *typing.get_args(hint)) if dataclasses.is_dataclass(one)]
        yield from ([f"{name}.{inner}" for inner in paths(nested[0])] if nested else [name])

print(json.dumps({
    **{name: sorted(paths(kind)) for name, kind in {
        "balance": wire.Balance, "link": wire.ConnectLink, "usage": wire.UsageSummary, "receipt": wire.Receipt,
    }.items()},
    "codes": sorted(typing.get_args(errors.ErrorCode)),
    "paymentCodes": sorted(typing.get_args(errors.PaymentCode)),
    "events": sorted(wire._EVENTS),
}))`;

function pathsOf(schema: z.ZodType): readonly string[] {
  const inside = unwrapped(schema);
  if (!(inside instanceof z.ZodObject)) return [''];
  return Object.entries(inside.shape as Readonly<Record<string, z.ZodType>>)
    .flatMap(([name, field]) => {
      const shown = `${name}${field instanceof z.ZodOptional ? '?' : ''}`;
      return pathsOf(field).map((path) => (path === '' ? shown : `${shown}.${path}`));
    })
    .toSorted();
}

function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return unwrapped(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodArray ? unwrapped(schema.element as z.ZodType) : schema;
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-readme-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const environment = typeof python === 'string' ? {} : await setStage();

async function setStage(): Promise<Readonly<Record<string, string>>> {
  const installing = hasPip ? installWheel() : path.join(PYTHON_PACKAGE, 'src');
  const { service, app } = await setSimulatedStage({ demo: 'sim.echo-1' });
  await service.fund(app, 'demo-user', 100_000_000);
  await service.fund(app, 'capped', 1_000_000, 1);
  await service.fund(app, 'blocked', 1_000_000);
  await service.setWallet(app, 'blocked', 'is_suspended = true');
  // Stands for a person who opens the link and pays.
  const payer = createServer((request, response) => {
    const user = new URL(request.url ?? '', 'http://payer').searchParams.get('user') ?? '';
    void service.fund(app, user, 1_000_000).then(() => response.end('paid'));
  });
  await new Promise<void>((resolve) => payer.listen(0, '127.0.0.1', resolve));
  after(() => payer.close());
  const told = {
    url: service.url,
    liveKey: app.liveKey,
    testKey: app.testKey,
    redirectUri: REDIRECT_URI,
    payUrl: `http://127.0.0.1:${(payer.address() as AddressInfo).port}/?user=`,
  };
  for (const { file, code } of blocks) if (file !== undefined) writeFileSync(path.join(folder, file), code);
  return {
    PYTHONPATH: [await installing, folder].join(path.delimiter),
    PURSER_TEST_SERVICE: JSON.stringify(told),
    PURSER_URL: service.url,
    PURSER_API_KEY: app.liveKey,
    PURSER_WEBHOOK_SECRET: 'whsec_of_this_test',
  };
}

/** Runs test modules, or classes of them, and asserts that none was skipped. */
async function runTests(...names: readonly string[]): Promise<void> {
  const told = await runPython(['-m', 'unittest', ...names], { cwd: TESTS, environment });
  assert.match(told, /^Ran [1-9]\d* tests? in [\d.]+s\n\nOK$/m);
}

if (typeof python === 'string') test('SDK-02 the Python package', { skip: python });
else {
  test(`SDK-01 SDK-02 SDK-03 the package’s tests pass on Python ${python.version}`, () =>
    runTests('test_client', 'test_errors', 'test_retries', 'test_top_up', 'test_webhooks', 'test_service'));

  for (const module of PYTHON_CLIENT_MODULES) {
    const skip = reasonToSkip(`import ${module}`, python);
    test(`SDK-01 SDK-02 ${module} (Python) works with the package’s settings`, { skip }, () =>
      runTests(`test_clients.${CLASSES[module]}`),
    );
  }

  test('SDK-02 the Python types match the service’s', async () => {
    const told = JSON.parse(await runPython(['-c', SHAPES], { environment })) as Readonly<Record<string, unknown>>;
    const paid = Object.entries(ERROR_STATUS).flatMap(([code, status]) => (status === 402 ? [code] : []));
    assert.deepEqual(told, {
      balance: pathsOf(balanceSchema),
      link: pathsOf(connectLinkSchema),
      usage: pathsOf(usageSummarySchema),
      receipt: pathsOf(receiptSchema),
      codes: Object.keys(ERROR_STATUS).toSorted(),
      paymentCodes: paid.toSorted(),
      events: EVENT_TYPES.toSorted(),
    });
  });

  for (const [index, { heading, code }] of scripts.entries()) {
    const place = scripts.slice(0, index).filter((block) => block.heading === heading).length;
    const skip = reasonToSkip(code, python);
    test(`SDK-02 the Python README's block ${place + 1} under ${heading} does what it says`, { skip }, async () => {
      assert.match(await runPython(['-c', code], { environment }), TOLD[heading]?.[place] ?? /^$/);
    });
  }
}

test('SDK-02 the Python README has these blocks and no others', () => {
  const counts = Object.entries(TOLD).map(([heading, told]) => [heading, told.length]);
  const found = Object.groupBy(scripts, ({ heading }) => heading);
  assert.deepEqual(
    Object.entries(found).map(([heading, list]) => [heading, list?.length]),
    counts,
  );
  const others = blocks.filter((block) => !scripts.includes(block)).map(({ language, file }) => file ?? language);
  assert.deepEqual(others, ['sh', 'receive.py']);
});

test('SDK-01 both READMEs have the same table of codes', () => {
  const [python, sdk] = ['purser-python', 'sdk'].map((name) => {
    const text = readFileSync(path.join(ROOT, 'packages', name, 'README.md'), 'utf8');
    return [...text.matchAll(/^\| (`[A-Z_]+`.*)$/gm)].map(([row]) => row.replaceAll(/`\w+`/g, '').replaceAll(/_/g, ''));
  });
  assert.deepEqual(python, sdk);
});

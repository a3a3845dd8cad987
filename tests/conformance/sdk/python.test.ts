import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, test } from 'node:test';
import {
  findPython,
  installWheel,
  PYTHON_CLIENT_MODULES,
  PYTHON_PACKAGE,
  runPython,
} from '../../support/python-package.ts';
import { REDIRECT_URI } from '../../support/service.ts';
import { startSimulatedService } from '../../support/simulated-service.ts';

/** The Python package, installed from its wheel, against the real service. */

const python = findPython();
const hasPip = typeof python !== 'string' && python.modules.includes('pip');
const CLASSES = {
  openai: 'OpenAITest',
  langchain_openai: 'LangChainTest',
  litellm: 'LiteLLMTest',
  pydantic_ai: 'PydanticAITest',
} as const;
const TESTS = path.join(PYTHON_PACKAGE, 'tests');

const environment = typeof python === 'string' ? {} : await setStage();

async function setStage(): Promise<Readonly<Record<string, string>>> {
  const installing = hasPip ? installWheel() : path.join(PYTHON_PACKAGE, 'src');
  const { service, app, close } = await startSimulatedService();
  after(close);
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
  return { PYTHONPATH: await installing, PURSER_TEST_SERVICE: JSON.stringify(told) };
}

/** Runs test modules, or classes of them, and asserts that none was skipped. */
async function runTests(...names: readonly string[]): Promise<void> {
  const told = await runPython(['-m', 'unittest', ...names], { cwd: TESTS, environment });
  assert.match(told, /^Ran [1-9]\d* tests? in [\d.]+s\n\nOK$/m);
}

if (typeof python === 'string') test('the Python package', { skip: python });
else {
  test(`SDK-01 SDK-02 SDK-03 the package’s own tests pass on Python ${python.version}`, () =>
    runTests('test_client', 'test_errors', 'test_top_up', 'test_webhooks', 'test_service'));

  for (const module of PYTHON_CLIENT_MODULES) {
    const skip = python.modules.includes(module)
      ? false
      : `not run: PURSER_TEST_PYTHON may name an interpreter with \`${module.replaceAll('_', '-')}\``;
    test(`SDK-01 SDK-02 ${module} (Python): answers, charges and errors with the package’s settings`, { skip }, () =>
      runTests(`test_clients.${CLASSES[module]}`),
    );
  }
}

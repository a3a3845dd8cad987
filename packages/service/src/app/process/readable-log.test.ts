import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadable } from '#app/process/readable-log.ts';
import { createLog } from '#kernel/log.ts';

/** What people read of some lines, without the time of day. */
function shown(write: (log: ReturnType<typeof createLog>) => void, isColoured = false): string[] {
  const readable = createReadable({ currency: 'EUR', isColoured });
  const texts: string[] = [];
  write(createLog('info', { write: (line) => void texts.push(readable(line)) }));
  return texts.map((text) => {
    assert.match(text, isColoured ? /\d\d:\d\d:\d\d/ : /^\d\d:\d\d:\d\d/);
    return text.trimEnd().replace(/^\S+ /, '');
  });
}

test('OP-06 a call and a request are one readable line each', () => {
  const path = '/v1/chat/completions';
  const call = {
    path,
    mode: 'live',
    model: 'demo',
    outcome: 'answered',
    status: 200,
    chargedMicros: 84,
    durationMs: 612,
  };
  const lines = shown((log) => {
    log.info(call, 'call');
    log.info({ ...call, mode: 'sandbox', firstByteMs: 3.2 }, 'call');
    log.info(
      { path, outcome: 'refused', status: 402, code: 'PAYMENT_REQUIRED', chargedMicros: 0, durationMs: 4 },
      'call',
    );
    log.info({ path: '/v1/responses', model: 'demo', outcome: 'abandoned', chargedMicros: 7, durationMs: 90 }, 'call');
    log.info({ method: 'GET', path: '/console/:part/keys', status: 200, durationMs: 12 }, 'request');
  });
  assert.deepEqual(lines, [
    'POST /v1/chat/completions 200 612 ms demo, €0.000084',
    'POST /v1/chat/completions 200 612 ms demo, first byte 3.2 ms, €0.000084, play money',
    'POST /v1/chat/completions 402 4 ms PAYMENT_REQUIRED',
    'POST /v1/responses --- 90 ms demo, €0.000007, abandoned',
    'GET  /console/:part/keys 200 12 ms',
  ]);
});

test('OP-06 other lines keep their words, and faults show a stack', () => {
  const fault = {
    name: 'Error',
    message: 'no',
    stack: 'Error: no\u001B[2J\n    at a.ts:1',
    cause: { name: 'Error', message: 'why' },
  };
  const lines = shown((log) => log.warn({ provider: 'first', odd: 'a\nb\u001B[2J', fault }, 'not ready'));
  assert.deepEqual(lines, ['warn not ready provider=first odd="a\\nb\\u001b[2J"\n  Error: no\n  Error: why']);
  const [ours] = shown((log) => log.error({ fault }, 'a call failed'));
  assert.equal(ours, 'error a call failed\n  Error: no [2J\n      at a.ts:1\n  Error: why');
  const [coloured] = shown(
    (log) => log.info({ method: 'GET', path: '/', status: 500, durationMs: 1 }, 'request'),
    true,
  );
  assert.ok(coloured?.includes('\u001B[31m500\u001B[0m'), 'a fault is red');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat } from '../support/client.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Which calls and requests have a line in the log, with the settings for a busy service and for a terminal. */

const { service, upstream, app, newUser } = await setStage({
  environment: { PURSER_LOG_ONE_IN: '2', PURSER_LOG_FORMAT: 'text' },
});
let names = 0;

function line(correlationId: string): Readonly<Record<string, unknown>> | undefined {
  return service.linesOf(correlationId).find(({ msg }) => msg === 'call');
}

/** The path of a request, as the log shows it to the person who develops. */
async function pathShown(path: string, method = 'GET'): Promise<unknown> {
  const correlationId = `shown-${(names += 1)}`;
  const headers = { 'x-correlation-id': correlationId, host: new URL(service.url).host };
  await (await fetch(service.url + path, { method, headers, redirect: 'manual' })).arrayBuffer();
  const [one, ...others] = await waitUntil('the line is written', () => {
    const found = service.linesOf(correlationId);
    return found.length > 0 && found;
  });
  assert.deepEqual([one?.['msg'], one?.['method'], others], ['request', method, []]);
  assert.ok(Number(one?.['status']) >= 200 && Number(one?.['durationMs']) >= 0);
  return one?.['path'];
}

test('OP-06 ER-03 every terminal request has a line without names, tokens or queries', async () => {
  const shown = await Promise.all([
    pathShown('/balance?user=anna'),
    pathShown('/v1/models/acme%2Fanna'),
    pathShown('/connect/a-token-of-a-link?status=anna'),
    pathShown(`/apps/${app.appId}/users/anna%40example.test`),
    pathShown(`/apps/${app.appId}/users/anna%40example.test`, 'DELETE'),
    pathShown('/v1/moderations', 'POST'),
    pathShown('/anna@example.test'),
    pathShown('/v1/chat/completions/'),
  ]);
  assert.deepEqual(shown, [
    '/balance',
    '/v1/models/:model',
    '/connect/:part',
    '/apps/:appId/users/:userId',
    '/apps/:appId/users/:userId',
    '/moderations',
    '(no such address)',
    '(no such address)',
  ]);
});

test('OP-06 answered calls are sampled, refused and failed ones always logged', async () => {
  const user = await newUser(1_000_000);
  const ask = async (name: string, key = app.liveKey) => {
    await chat({ url: service.url, key, user, headers: { 'x-correlation-id': name } }, { seed: name.length });
    return name;
  };
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi.' }) });
  const answered: string[] = [];
  // By chance: that none or all of 40 calls have one happens once in 550 billion runs.
  for (let call = 0; call < 40; call += 1) answered.push(await ask(`one-in-two-${call}`));
  await waitUntil('the refused call has a line', async () => line(await ask('refused', 'svc_live_unknown')));
  const written = answered.map(line).filter((one) => one !== undefined);
  assert.ok(written.length > 0 && written.length < answered.length, `${written.length} lines`);
  assert.deepEqual(new Set(written.map(({ oneIn }) => oneIn)), new Set([2]));
  assert.equal(line('refused')?.['oneIn'], undefined);
  upstream.script({ status: 500, body: '{}' });
  for (let call = 0; call < 6; call += 1) await ask(`failing-${call}`);
  const failed = await waitUntil('the failed calls have lines', () => {
    const found = Array.from({ length: 6 }, (_, call) => line(`failing-${call}`)).filter((one) => one !== undefined);
    return found.length === 6 && found;
  });
  assert.deepEqual(
    new Set(failed.map(({ outcome, oneIn }) => `${String(outcome)} ${String(oneIn)}`)),
    new Set(['failed undefined']),
  );
});

// Plays the page for one server and the section about pgBackRest on a machine of its own, block after block as they stand there. What
// the page says in words is done here by requests.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { personWith } from '../../support/control.ts';
import { blocksOf } from '../../support/sdk-package.ts';
import { codeOf } from '../../support/second-factor.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { layMachine } from './own-machine.ts';

const HOST = 'pay.acme.test';
const PASSWORD = 'a password of an operator';
const PROVIDER = 'http://127.0.0.1:9999/v1';
const URL_OF_GATEWAY = 'http://127.0.0.1:8787';
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const CREDIT = 1_000_000;

const [folder = '', given = '{}'] = process.argv.slice(2);
const { archive } = JSON.parse(given) as { readonly archive: string };
const machine = layMachine(folder, [HOST]);
cpSync(archive, path.join(machine.home, path.basename(archive)));
const startedAtMs = performance.now();
const steps: { readonly what: string; readonly atSeconds: number }[] = [];

/** What a reader puts in place of the page's own names. */
function ownWords(code: string): string {
  return code
    .replaceAll(/purser-0\.1\.0-\d{8}-[0-9a-f]{12}-linux-x64/g, path.basename(archive, '.tar.gz'))
    .replaceAll('pay.example.com', HOST)
    .replace('"model":"demo"', '"model":"gpt-mini"')
    .replaceAll('Example Pay', 'Acme Pay')
    .replaceAll('example.com', 'acme.test')
    .replaceAll('purser:password@', 'purser:own-password@');
}

function blocks(page: string, heading: string): readonly string[] {
  const found = blocksOf(`docs/guides/operator/${page}.md`).filter(
    (block) => block.heading === heading && block.language === 'sh',
  );
  assert.ok(found.length > 0, heading);
  return found.map(({ code }) => ownWords(code));
}

function step(what: string): void {
  steps.push({ what, atSeconds: Math.round((performance.now() - startedAtMs) / 100) / 10 });
}

const answering = http.createServer((request, response) => {
  request.resume().on('end', () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'demo', choices, usage: USAGE }),
    );
  });
});
answering.listen(9999, '127.0.0.1');

const [install = ''] = blocks('one-server', 'The program and the database');
await machine.run(install, 'own-password\nown-password\n');
step('the program and the database');

const [setUp = ''] = blocks('one-server', 'The settings');
const [start = ''] = blocks('one-server', 'The service');
const written = path.join(machine.home, 'purser-setup');
const left = await machine.run(setUp);
assert.match(left, /Left to do:/);
// The catalogue as it was written, at a provider of this machine.
const catalogue = readFileSync(path.join(written, 'catalogue.json'), 'utf8');
writeFileSync(path.join(written, 'catalogue.json'), catalogue.replace('https://api.openai.com/v1', PROVIDER));
appendFileSync(path.join(written, 'purser.env'), 'OPENAI_API_KEY=key-of-a-provider\n');
step('the settings');
await machine.run(start);
step('the service takes calls');

const [certify = ''] = blocks('one-server', 'TLS');
const trusted = `/etc/letsencrypt/live/${HOST}/fullchain.pem`;
const trusting = `curl() { command curl --cacert ${trusted} "$@"; }\n`;
await machine.run(trusting + certify);
step('TLS');

const [operate = ''] = blocks('one-server', 'The operator');
const email = 'you@acme.test';
const code = (await machine.run(operate, `${PASSWORD}\n`)).trim().split('\n').at(-1) ?? '';
const nobody = personWith(URL_OF_GATEWAY, undefined);
const session = await nobody.get(200, 'POST', '/sessions', { email, password: PASSWORD });
const operator = personWith(URL_OF_GATEWAY, String(session['sessionToken']));
const offered = await operator.get(200, 'POST', '/accounts/current/authenticator');
const { secret, setupToken } = offered;
await operator.get(200, 'PUT', '/accounts/current/authenticator', {
  setupToken,
  code: codeOf(String(secret)),
  enrolmentCode: code,
});
step('the operator has a second factor');

await operator.get(201, 'POST', '/operator/accounts', { email: 'owner@acme.test', password: PASSWORD, role: 'owner' });
const owning = await nobody.get(200, 'POST', '/sessions', { email: 'owner@acme.test', password: PASSWORD });
const owner = personWith(URL_OF_GATEWAY, String(owning['sessionToken']));
const { appId } = await owner.get(201, 'POST', '/apps', { name: 'Notes' });
await operator.get(200, 'PATCH', `/operator/apps/${String(appId)}`, { firstParty: true });
const { apiKey } = await owner.get(201, 'POST', `/apps/${String(appId)}/keys`, { mode: 'live' });
await operator.get(201, 'POST', `/operator/apps/${String(appId)}/wallets`, {
  userId: 'demo-user',
  creditMicros: CREDIT,
  idempotencyKey: 'first',
  reason: 'the first day',
});
const [call = ''] = blocks('one-server', 'The first call');
const calling = `${trusting}export PURSER_URL=https://${HOST} PURSER_API_KEY=${String(apiKey)}\n${call.replace('curl ', 'curl -sSi --fail-with-body ')}`;
const charge = async (): Promise<number> =>
  Number(/^x-service-charge-micros: (\d+)/im.exec(await machine.run(calling))?.[1]);
const first = await charge();
step('a charged call through TLS');

const [nightly = ''] = blocks('one-server', 'Every night');
await machine.run(nightly);
for (const job of ['ledger-check', 'audit-check']) await machine.run(`systemctl start purser-job@${job}`);
await machine.run(`purserctl ledger check`);
step('nightly checks');

const [backUp = '', restore = ''] = blocks('backup', 'pgBackRest');
await machine.run(backUp);
step('pgBackRest keeps the log and a backup');
await waitUntil(
  'the service is back after the restart of its database',
  async () => (await nobody.ask('GET', '/readyz')).status === 200,
);
const kept = await charge();
const moment = (
  await machine.run(
    `runuser -u postgres -- psql -Atc "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"`,
  )
).trim();
const before = await books();
const givenUp = await charge();
await machine.run(restore.replace('2026-11-23 14:00:00', moment));
const restored = await books();
await machine.run('purserctl backup check');
await machine.run('systemctl start purser');
step('the database is back at the moment, and the service on it');
const after = await charge();
answering.close();
answering.closeAllConnections();
const refused = spawnSync('cat', ['/run/stand-in/refused'], { encoding: 'utf8' }).stdout.split('\n').length - 1;
console.log(JSON.stringify({ charges: [first, kept, givenUp, after], before, restored, refused, steps }));

/** Receipts and what they say was charged. */
async function books(): Promise<string> {
  const sum = `select count(*) || ' ' || sum(charged_micros) from usage.calls`;
  return (await machine.run(`runuser -u postgres -- psql -At purser -c "${sum}"`)).trim();
}

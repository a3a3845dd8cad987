import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { findFreePort } from '../../../packages/service/src/embedded/server/free-port.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { deployYaml } from '../../support/deploy-files.ts';
import { chargeFor } from '../../support/catalogue.ts';
import { COMPLETIONS } from '../../support/client.ts';
import { createGate } from '../../support/gate.ts';
import { type Nginx, startNginx } from '../../support/nginx.ts';
import { receiptNamed } from '../../support/receipts.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import { startSecondGateway } from '../../support/service.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { startCaddy } from '../roll/caddy.ts';

/** The sample of nginx before two gateways. `npm run proofs -- proxy` does more of it, for longer. */

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 77, completion_tokens: 33, total_tokens: 110 };
const CHARGE = chargeFor({ prompt: 77, completion: 33 });
const SETTINGS = { PURSER_PROXY_HOPS: '1', PURSER_STOP_DELAY_SECONDS: '1' };

const { upstream, service, app, newUser, linksOf } = await setStage({
  environment: { ...SETTINGS, PURSER_STOP_DELAY_SECONDS: '0' },
});
const second = await startSecondGateway(service, SETTINGS);
/** A gateway that dies when it has a call. */
let cuts = 0;
const dying = net.createServer((socket) => {
  socket.once('data', () => {
    cuts += 1;
    socket.resetAndDestroy();
  });
});
dying.listen(0, '127.0.0.1');
await once(dying, 'listening');
const DYING = `http://127.0.0.1:${(dying.address() as net.AddressInfo).port}`;
const DOWN = `http://127.0.0.1:${await findFreePort()}`;
const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-nginx-'));
const nginx = await startNginx({ directory, gateways: [DOWN, service.url, DYING, second.url] });
const agent = new https.Agent({ keepAlive: true, maxSockets: 8, ca: nginx?.ca });
after(async () => {
  agent.destroy();
  dying.close(); // Also where nginx is missing and no test closes it.
  await nginx?.stop();
  await second.close();
  rmSync(directory, { recursive: true, force: true });
});
const WITH_NGINX = {
  skip:
    nginx === undefined && 'nginx or openssl is missing: install both (Debian: apt-get install nginx-light openssl)',
};

interface Call {
  readonly user: string;
  readonly id?: string;
  readonly body?: object;
}

function open({ user, id = user, body = {} }: Call) {
  const text = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }], ...body });
  const headers = {
    authorization: `Bearer ${app.liveKey}`,
    'x-service-user': user,
    'x-correlation-id': id,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  };
  const sent = https.request(`${nginx?.url}${COMPLETIONS}`, { method: 'POST', agent, headers });
  let read = '';
  const answered = once(sent, 'response').then(([response]: readonly import('node:http').IncomingMessage[]) => {
    response?.on('data', (part) => void (read += String(part)));
    response?.on('error', () => {});
    return response;
  });
  answered.catch(() => {});
  sent.on('error', () => {});
  sent.end(text);
  return {
    read: () => read,
    leave: () => sent.destroy(),
    whole: async () => {
      const response = await answered;
      if (response !== undefined && !response.readableEnded) await once(response, 'end');
      return { status: response?.statusCode, text: read, headers: response?.headers ?? {} };
    },
  };
}

test('WA-07 nginx resends a refused call and never a taken one', WITH_NGINX, async () => {
  const user = await newUser(BALANCE);
  upstream.script({ body: completionBody({ model: 'large-upstream', content: 'Whole.', usage: USAGE }) });
  const statuses: unknown[] = [];
  while (statuses.length < 6) statuses.push((await open({ user, id: `first-${statuses.length}` }).whole()).status);
  dying.close();
  assert.deepEqual([cuts, statuses.filter((status) => status === 502).length], [1, 1]);
  assert.equal(statuses.filter((status) => status === 200).length, 5);
  assert.equal(upstream.requests.length, 5);
  assert.match(nginx?.logged() ?? '', / 502 : 200 first-/);
});

test('CC-11 nginx passes on stream pieces at once', WITH_NGINX, async () => {
  const [reader, leaver] = [await newUser(BALANCE), await newUser(BALANCE)];
  const gate = createGate();
  const steps = streamSteps({
    model: 'large-upstream',
    pieces: ['Half', 'whole'],
    usage: USAGE,
    includeUsageChunk: true,
  });
  upstream.script({ body: [...steps.slice(0, 2), { waitFor: gate.opened }, ...steps.slice(2)] });
  const stream = open({ user: reader, body: { stream: true } });
  await waitUntil('the first piece is read', () => stream.read().includes('Half'));
  assert.doesNotMatch(stream.read(), /whole/);
  const left = open({ user: leaver, body: { stream: true } });
  await waitUntil('the other caller has the first piece', () => left.read().includes('Half'));
  left.leave();
  const receipt = await waitUntil('the abandoned stream is settled', () => receiptNamed(service.database, leaver));
  assert.equal(receipt.outcome, 'abandoned');
  gate.open();
  const { status, text, headers } = await stream.whole();
  assert.equal(headers['strict-transport-security'], 'max-age=31536000');
  assert.equal(status, 200);
  assert.match(text, /whole[^]*data: \[DONE\]\n\n$/);
});

test('WA-07 behind nginx a stopping gateway charges each call once', WITH_NGINX, async () => {
  const user = await newUser(BALANCE);
  upstream.script({ body: completionBody({ model: 'large-upstream', content: 'Whole.', usage: USAGE }) });
  const asked = upstream.requests.length;
  const stopped = new AbortController();
  let calls = 0;
  const caller = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      calls += 1;
      const { status, text } = await open({ user, id: `call-${calls}` }).whole();
      assert.deepEqual([status, text.includes('Whole.')], [200, true]);
    }
  };
  const callers = Promise.all([1, 2, 3, 4].map(caller));
  await waitUntil('both gateways have calls', () => calls > 40);
  await second.close();
  stopped.abort();
  await callers;
  assert.equal(upstream.requests.length - asked, calls);
  const { balance, held } = await service.wallet(app, user);
  assert.deepEqual([balance, held], [BALANCE - calls * CHARGE, 0]);
  assert.deepEqual(await service.check(), []);
  // It was turned away there, and taken by the other.
  const turnedAway =
    nginx
      ?.logged()
      .split('\n')
      .filter((line) => /\b503\b/.test(line)) ?? [];
  assert.notEqual(turnedAway.length, 0);
  for (const line of turnedAway) assert.match(line, / 503\b.* 200 call-\d+$/);
});

test('CC-06 nginx refuses an oversized body in the envelope', WITH_NGINX, async () => {
  const { status, text } = await open({ user: 'nobody', body: { filler: 'x'.repeat(9_500_000) } }).whole();
  assert.equal(status, 413);
  const { error } = JSON.parse(text) as { readonly error: Readonly<Record<string, unknown>> };
  assert.deepEqual(
    [error['code'], error['type'], typeof error['correlationId']],
    ['PAYLOAD_TOO_LARGE', 'request_too_large', 'string'],
  );
  assert.doesNotMatch(nginx?.logged() ?? '', /\?/);
});

type Proxy = Pick<Nginx, 'url' | 'ca' | 'said' | 'stop'> & Partial<Pick<Nginx, 'plainUrl' | 'logged'>>;

/** The sample with the log of the ingress: its snippet, its format and its level, where the controller puts them. */
function asIngress(sample: string): string {
  const { data } = deployYaml('kubernetes/ingress-nginx.yaml') as { readonly data: Readonly<Record<string, string>> };
  const log = `${data['http-snippet']}log_format purser '${data['log-format-upstream']}';`;
  const [written = ''] = /map \$uri [^]*?(?=\n\nserver)/.exec(sample) ?? [];
  return sample.replace(written, () => log).replaceAll(' emerg;', ` ${data['error-log-level']};`);
}

for (const name of ['nginx', 'Caddy', 'ingress-nginx']) {
  test(`ER-03 no log of ${name} has the secret of a link`, WITH_NGINX, async (t) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-logs-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const subject = { appId: app.appId, mode: 'live' as const, userId: 'user-of-links' as EndUserId };
    const { pathname: topup } = new URL(linksOf().topup(subject, undefined));
    const secret = topup.split('/').at(-1) ?? '';
    assert.ok(secret.length > 20);
    const mailed = [topup, `/account/verify?token=${secret}`];
    const logs: string[] = [];
    // Caddy asks for five seconds whether a gateway that is down is back, so fewer links are opened there.
    for (const [gateway, paths] of [
      [service.url, [...mailed, `/connect/${secret}/consent`, `/checkout/${secret}?paid=no`]],
      [DOWN, mailed],
    ] as const) {
      const own = mkdtempSync(path.join(folder, 'proxy-'));
      const options = {
        directory: own,
        gateways: [gateway],
        ...(name === 'ingress-nginx' ? { adapt: asIngress } : {}),
      };
      const proxy: Proxy | undefined = name === 'Caddy' ? await startCaddy(options) : await startNginx(options);
      if (proxy === undefined) return t.skip(`${name} is missing`);
      const trusting = new https.Agent({ ca: proxy.ca });
      for (const base of [proxy.url, ...(proxy.plainUrl === undefined ? [] : [proxy.plainUrl])]) {
        for (const at of paths) {
          const headers = { referer: `${proxy.url}${topup}` };
          const isTls = base === proxy.url;
          const asked = isTls ? https.get(base + at, { agent: trusting, headers }) : http.get(base + at, { headers });
          const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
          answer.resume();
          await once(answer, 'end');
        }
      }
      trusting.destroy();
      await proxy.stop();
      logs.push(proxy.said(), proxy.logged?.() ?? '');
    }
    for (const log of logs) assert.ok(!log.includes(secret), 'a log has the secret');
    assert.match(logs.join(), name === 'Caddy' ? /"uri":"\/topup\/\.\.\."/ : /"GET (?:\S+ )?\/topup\/\.\.\. HTTP/);
  });
}

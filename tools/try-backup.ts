// Plays a backup, a lost machine and a restore to a moment, with calls and payments: `npm run proofs -- backup`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPool } from '../packages/service/src/db/pool/pool.ts';
import { findRunningPostgres } from '../packages/service/src/embedded/running.ts';
import { systemClock } from '../packages/service/src/kernel/time/clock.ts';
import { type AppId, type EndUserId, newIdentityId } from '../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../packages/service/src/kernel/log.ts';
import { micros } from '../packages/service/src/kernel/values/micros.ts';
import { createCheckouts } from '../packages/service/src/payments/checkouts.ts';
import { createStripe } from '../packages/service/src/payments/stripe/stripe.ts';
import { catalogueAt } from '../tests/support/catalogue.ts';
import { chat, send } from '../tests/support/client.ts';
import { completionBody, startScriptedUpstream } from '../tests/support/scripted-upstream.ts';
import { readDemo, runToEnd, type ServiceProcess, startServiceProcess } from '../tests/support/service-process.ts';
import { startStripeServer } from '../tests/support/stripe-server.ts';

const CLI = fileURLToPath(new URL('../packages/service/src/cli/main.ts', import.meta.url));
const SECRET = 'the secret of a service that is restored, 0123456789';
const CALLERS = 4;
const PAID = 10_000_000;
/** The service looks payments up once a minute, the first time a minute after the checkout. */
const LOOK_MS_MAX = 240_000;
const CUT_MS = 400;

const root = mkdtempSync(path.join(os.tmpdir(), 'purser-try-backup-'));
const [dataDirectory, lost, backups] = ['data', 'lost', 'backups'].map((name) => path.join(root, name)) as [
  string,
  string,
  string,
];
mkdirSync(dataDirectory);
const stripe = await startStripeServer();
stripe.balanceAt = Math.floor(Date.now() / 1_000) - 86_400; // A day is compared once it is over.
const upstream = await startScriptedUpstream();
upstream.script({
  body: completionBody({
    model: 'large-upstream',
    content: 'Hi.',
    usage: { prompt_tokens: 40, completion_tokens: 20 },
  }),
});
const options = {
  dataDirectory,
  catalogue: catalogueAt(upstream.baseUrl),
  environment: {
    PURSER_SECRET: SECRET,
    PURSER_BACKUP_DIR: backups,
    PURSER_STRIPE_SECRET_KEY: stripe.secretKey,
    PURSER_STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    PURSER_STRIPE_API_BASE: stripe.url,
    PURSER_RATE_PER_MINUTE: '1000000',
    PURSER_RATE_BURST: '1000000',
  },
};
let faults = 0;
let running: ServiceProcess | undefined;

function say(what: string, isRight = true): void {
  console.log(`${isRight ? 'ok  ' : 'BAD '} ${what}`);
  faults += Number(!isRight);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

async function command(...words: readonly string[]): Promise<string> {
  const since = performance.now();
  const { status, said } = await runToEnd(options, ...words);
  say(
    `purser ${words.join(' ')}: exit status ${String(status)}, ${((performance.now() - since) / 1_000).toFixed(1)} s`,
    status === 0,
  );
  if (status !== 0) console.log(said);
  return said;
}

/** Calls that go on until `stop`, over several connections. Each has the time of its answer and what it was charged. */
function startCalls({ url }: ServiceProcess) {
  const { liveKey: key, userId: user } = readDemo(dataDirectory);
  const answered: { readonly atMs: number; readonly micros: number }[] = [];
  const ending = new AbortController();
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!ending.signal.aborted) {
      const reply = await chat({ url, key, user }).catch(() => undefined);
      if (reply?.status !== 200) continue;
      answered.push({ atMs: Date.now(), micros: Number(reply.headers.get('x-service-charge-micros')) });
    }
  });
  return {
    answered,
    stop: () => {
      ending.abort();
      return Promise.all(callers);
    },
  };
}

async function openOwner() {
  const url = (await findRunningPostgres(path.join(dataDirectory, 'postgres'))) ?? '';
  return createPool({ url, role: 'owner', connectionsMax: 2, log: createLog('silent') });
}

/** A checkout of the demo user, as a payer begins one. */
async function beginCheckout(): Promise<string> {
  const pool = await openOwner();
  try {
    const { appId, userId } = readDemo(dataDirectory);
    const processor = createStripe({ ...stripe, apiBase: new URL(stripe.url) }, systemClock);
    const { url } = await createCheckouts({
      pool,
      processor,
      publicUrl: 'https://purser.test',
      log: createLog('silent'),
    }).begin({
      appId: appId as AppId,
      userId: userId as EndUserId,
      identityId: newIdentityId(),
      amount: micros(BigInt(PAID)),
      appName: 'Demo',
      email: undefined,
      linkDigest: undefined,
    });
    return url.split('/').at(-1) ?? '';
  } finally {
    await pool.end();
  }
}

async function tell({ url }: ServiceProcess, payment: string): Promise<void> {
  const { body, signature } = stripe.event('payment_intent.succeeded', payment);
  const { status } = await send('/webhooks/stripe', { url, body, headers: { 'stripe-signature': signature } });
  say(`the webhook of ${payment} is answered ${status}`, status === 200);
}

async function credited(payment: string): Promise<boolean> {
  const pool = await openOwner();
  try {
    const { rowCount } = await pool.query('select from payments.payments where processor_payment = $1', [payment]);
    return rowCount === 1;
  } finally {
    await pool.end();
  }
}

async function charges(): Promise<{ readonly count: number; readonly micros: number }> {
  const pool = await openOwner();
  try {
    const { rows } = await pool.query<{ count: number; micros: number }>(
      'select count(*)::int as count, coalesce(sum(charged_micros), 0)::float8 as micros from usage.calls',
    );
    return rows[0] ?? { count: 0, micros: 0 };
  } finally {
    await pool.end();
  }
}

/** A backup that is killed in the middle leaves nothing that looks like one. */
async function cutBackup(): Promise<void> {
  const child = spawn(process.execPath, [CLI, 'backup', 'create'], {
    stdio: 'ignore',
    env: { ...process.env, ...options.environment, PURSER_DATA_DIR: dataDirectory },
  });
  const base = path.join(backups, readdirSync(backups)[0] ?? '', 'base');
  const drafts = () => readdirSync(base).filter((name) => name.startsWith('.partial-'));
  while (child.exitCode === null && drafts().length === 0) await pause(5);
  await pause(CUT_MS);
  child.kill('SIGKILL');
  await once(child, 'exit').catch(() => undefined);
  const listed = await command('backup', 'list');
  say(
    `a backup was killed: ${drafts().length} unfinished, ${listed.trim().split('\n').length} listed`,
    listed.trim().split('\n').length === 1,
  );
}

/** Everything until the machine is lost. */
async function playUntilLost() {
  const first = await startServiceProcess(options);
  running = first;
  let calls = startCalls(first);
  const early = stripe.pay(await beginCheckout());
  await tell(first, early);
  const openSession = await beginCheckout(); // Begun before the moment, and paid after it.
  await command('backup', 'create');
  await cutBackup();
  await pause(2_000);
  await calls.stop();
  const [before, moment] = [calls.answered, new Date()];
  await pause(50);
  calls = startCalls(first);
  const late = stripe.pay(openSession);
  await tell(first, late);
  const unknown = stripe.pay(await beginCheckout());
  await tell(first, unknown);
  say('three payments are in the books', (await Promise.all([early, late, unknown].map(credited))).every(Boolean));
  await pause(2_000);
  await first.kill();
  await calls.stop();
  say(`${before.length} calls before the moment, ${calls.answered.length} after it; then everything was killed`);
  return { before, moment, payments: { early, late, unknown } };
}

/** Brings the database back as it was at the moment. */
async function restore(moment: Date): Promise<void> {
  const demo = path.join(dataDirectory, 'demo.json');
  renameSync(dataDirectory, lost);
  mkdirSync(dataDirectory);
  cpSync(path.join(lost, 'demo.json'), demo);
  const log = path.join(lost, 'postgres', 'pg_wal');
  await command('backup', 'restore', '--at', moment.toISOString(), '--log', log);
  const refused = await runToEnd(options, 'serve');
  say('no gateway starts on the copy', refused.status === 1 && refused.said.includes('backup accept'));
  await command('backup', 'accept');
}

/** A day in UTC, so many days from today. */
function day(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
}

type Lost = Awaited<ReturnType<typeof playUntilLost>>;

/** Compares with what callers and payers know. */
async function compare({ before, payments: { early, late, unknown } }: Lost): Promise<void> {
  const second = await startServiceProcess(options);
  running = second;
  const booked = await charges();
  const expected = before.reduce((sum, { micros: charged }) => sum + charged, 0);
  say(
    `${booked.count} receipts over ${booked.micros} micros, and callers know of ${before.length} over ${expected}`,
    booked.count === before.length && booked.micros === expected,
  );
  say('the payment from before the moment is in the books', await credited(early));
  say('the payment from after it is not yet', !(await credited(late)));
  const since = performance.now();
  while (!(await credited(late)) && performance.now() - since < LOOK_MS_MAX) await pause(1_000);
  say(
    `the service has looked it up by itself, ${((performance.now() - since) / 1_000).toFixed(0)} s later`,
    await credited(late),
  );
  await tell(second, late);
  const { said } = await runToEnd(options, 'reconcile', '--from', day(-1), '--to', day(0));
  // Lines of the others say that the double has them on another day.
  const missing = said.split('\n').filter((line) => line.startsWith('not_in_books'));
  const isNamed = missing.length === 1 && missing[0]?.includes(unknown) === true;
  say('`reconcile` names the payment whose checkout is lost, and only that one', isNamed);
  if (!isNamed) console.log(said);
  await command('ledger', 'check');
  await command('backup', 'check');
  await second.stop();
}

try {
  const known = await playUntilLost();
  await restore(known.moment);
  await compare(known);
} finally {
  await running?.stop();
  await Promise.all([stripe.close(), upstream.close()]);
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
console.log(faults === 0 ? 'Everything came back.' : `${faults} things are wrong.`);
process.exit(faults === 0 ? 0 : 1);

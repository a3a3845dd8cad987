import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chat } from '../../support/client.ts';
import { rewrite } from '../../support/rewrite.ts';
import type { NextScript } from '../../support/scripted-upstream.ts';
import { descendantsOf } from '../../support/service-process.ts';
import { answering, answerWith, failing, type Observed, type Play } from './stage.ts';

/** They look at the last five minutes and more. Their ends are waited for with `--long` only. */
export const SLOW_TO_END = [
  'PurserCallsFail',
  'PurserProviderThrottles',
  'PurserDatabaseSlow',
  'PurserAuditBroken',
  'PurserPaymentWebhooksRefused',
];

/** This is more than twice the lease of the stage. */
const STALL_MS = 25_000;
const MIB = 1024 * 1024;
const PATIENT = 'wait for it';

/** Answers at once, but for one call, which is answered after a while. */
const answeringLate =
  (waitMs: number): NextScript =>
  (request) => {
    const script = answerWith(request, {});
    if (!JSON.stringify(request.body).includes(PATIENT) || typeof script.body === 'string') return script;
    return { body: [{ write: '' }, { waitMs }, ...(script.body as readonly { readonly write: string }[])] };
  };

/** A stream that its provider keeps waiting. It runs on. */
async function startPatientCall({ service, app, provider, ground }: Observed, waitMs: number): Promise<string> {
  const user = `patient-${waitMs}`;
  await ground.fund(app, user, 1_000_000);
  provider.script(answeringLate(waitMs));
  const messages = [{ role: 'user', content: PATIENT }];
  void chat({ url: service.url, key: app.liveKey, user }, { messages, stream: true }).catch(() => undefined);
  await pause(1_000);
  return user;
}

const closeProvider =
  (status: number) =>
  async ({ provider }: Observed) =>
    provider.script(failing(status));
const openProvider = async ({ provider }: Observed) => provider.script(answering);

/** Plays of one phase run side by side, and the phases one after the other. */
export const PHASES: readonly (readonly Play[])[] = [
  [
    { alerts: ['PurserCertificateEnds', 'PurserCertificateEndsNow'], cause: async () => undefined }, // It has two days left.
    {
      alerts: ['PurserBooksDiffer'],
      cause: async ({ ground, app }) => {
        await ground.fund(app, 'quiet', 100);
        await ground.setWallet(app, 'quiet', 'balance_micros = 107');
      },
      remedy: ({ ground, app }) => ground.setWallet(app, 'quiet', 'balance_micros = 100'),
    },
    {
      // Nobody can wait an hour here, so the hold is dated back. It ends with its call.
      alerts: ['PurserHoldsStay'],
      cause: async (observed) => {
        const user = await startPatientCall(observed, 30_000);
        const text = `update ledger.holds set placed_at = placed_at - interval '2 hours' where wallet_id =
          (select wallet_id from ledger.wallets where user_id = $1)`;
        await rewrite(observed.ground.database, text, [user]);
      },
      remedy: openProvider,
    },
    {
      // As a payment into a wallet that does not exist leaves it.
      alerts: ['PurserPaymentsWait'],
      cause: ({ ground, app }) =>
        rewrite(
          ground.database,
          `insert into payments.cases (case_id, payment_id, app_id, user_id, kind, subject)
           values ('case_try', 'pay_try', $1, 'nobody', 'kept', 'pay_try')`,
          [app.appId],
        ),
      remedy: ({ ground }) => rewrite(ground.database, `delete from payments.cases where case_id = 'case_try'`),
    },
    {
      // No worker takes an event whose subscription is gone.
      alerts: ['PurserDeliveriesLate'],
      cause: ({ ground, app }) =>
        rewrite(
          ground.database,
          `insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at, due_at)
           values ('evt_try', $1, 0, 'topup.completed', '{}', clock_timestamp(), clock_timestamp() - interval '10 minutes')`,
          [app.appId],
        ),
      remedy: ({ ground }) => rewrite(ground.database, `delete from webhooks.events where event_id = 'evt_try'`),
    },
    {
      // The stage has no mail server, so nothing is sent.
      alerts: ['PurserMailLate'],
      cause: ({ ground }) =>
        rewrite(
          ground.database,
          `insert into mail.messages (sealed_recipient, subject, body, created_at)
           values ('e1.try', 'e1.try', 'e1.try', clock_timestamp() - interval '20 minutes')`,
        ),
      remedy: ({ ground }) => rewrite(ground.database, `delete from mail.messages where sealed_recipient = 'e1.try'`),
    },
    {
      alerts: ['PurserDiskLow', 'PurserDiskFull'],
      cause: async ({ dataDirectory }) => writeFileSync(path.join(dataDirectory, 'filler'), Buffer.alloc(160 * MIB)),
      remedy: async ({ dataDirectory }) => {
        rmSync(path.join(dataDirectory, 'filler'));
        execFileSync('mount', ['-o', 'remount,size=2g', dataDirectory]);
      },
    },
  ],
  [{ alerts: ['PurserProviderDown', 'PurserCallsFail'], cause: closeProvider(500), remedy: openProvider }],
  [{ alerts: ['PurserProviderThrottles'], cause: closeProvider(429), remedy: openProvider }],
  [
    {
      alerts: ['PurserProviderKeyRefused'],
      cause: async (observed) => {
        await closeProvider(401)(observed);
        await pause(3_000);
        await openProvider(observed);
      },
    },
    {
      alerts: ['PurserOverruns'],
      cause: async ({ provider }) => {
        await pause(4_000);
        provider.script((request) => answerWith(request, { completion_tokens: 100_000, total_tokens: 100_040 }));
        await pause(3_000);
        provider.script(answering);
      },
    },
  ],
  [
    {
      alerts: ['PurserLeaseLost', 'PurserBlocked'],
      cause: async ({ service }) => {
        const [worker = 0] = descendantsOf(service.pid);
        process.kill(worker, 'SIGSTOP');
        await pause(STALL_MS);
        process.kill(worker, 'SIGCONT');
      },
    },
  ],
  [
    {
      alerts: ['PurserDatabaseDown', 'PurserSettlementsKept'],
      cause: async (observed) => {
        await startPatientCall(observed, 3_000);
        observed.network.reset();
      },
      remedy: async ({ network, provider }) => {
        network.restore();
        provider.script(answering);
      },
    },
  ],
  [{ alerts: ['PurserDown'], cause: ({ service }) => service.stop() }],
];

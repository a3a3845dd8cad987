import { after } from 'node:test';
import type { Pool } from '../../packages/service/src/db/pool.ts';
import type { AppId, EndUserId } from '../../packages/service/src/kernel/ids.ts';
import { micros } from '../../packages/service/src/kernel/micros.ts';
import { createFunding } from '../../packages/service/src/ledger/funding/funding.ts';
import { createWallets } from '../../packages/service/src/ledger/wallet/wallet.ts';
import { catalogueAt } from './catalogue.ts';
import { newOwner, type Person } from './control.ts';
import { type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.ts';
import { startTestService, type TestService } from './service.ts';
import { waitUntil } from './wait-until.ts';
import { startReceiver, type WebhookReceiver } from './webhook-receiver.ts';

export interface SubscribedApp {
  readonly appId: AppId;
  readonly path: string;
  readonly secret: string;
  readonly liveKey: string;
}

/** A service whose webhooks may reach this machine, an endpoint, and money that moves. It ends with the file. */
export interface WebhookStage {
  readonly service: TestService;
  readonly upstream: ScriptedUpstream;
  readonly receiver: WebhookReceiver;
  readonly owner: Person & { readonly email: string };
  readonly newApp: () => Promise<Pick<SubscribedApp, 'appId' | 'liveKey'>>;
  /** An app of the owner whose events go to a separate path on the receiver. */
  readonly subscribe: (fields?: Readonly<Record<string, unknown>>) => Promise<SubscribedApp>;
  /** A payment that was verified. */
  readonly topUp: (appId: AppId, userId: string, amount: number, key?: string) => Promise<void>;
  readonly connect: (appId: AppId, userId: string, isConnected: boolean) => Promise<void>;
  /** The wallet of a user, opened empty if there is none. */
  readonly open: (appId: AppId, userId: string) => Promise<void>;
  /** Attempts never become due by themselves here. This makes all of them due. */
  readonly endWaits: () => Promise<void>;
  readonly events: (appId: AppId) => Promise<readonly EventRow[]>;
  /** Waits until no attempt of any app is due or running. */
  readonly whenQuiet: () => Promise<void>;
}

interface EventRow {
  readonly event_id: string;
  readonly type: string;
  readonly state: string;
  readonly attempt: number;
  readonly body: Buffer | null;
  /** The planned wait of the next attempt, from the start of the last one. */
  readonly wait_seconds: number | null;
}

/** Records when a failed attempt would be repeated, and prevents it. */
const STAND_STILL = `
  create table waits (event_id text, attempt int, due_at timestamptz);
  create function stand_still() returns trigger language plpgsql security definer as $$
  begin
    insert into public.waits values (new.event_id, old.attempt, new.due_at);
    new.due_at := 'infinity';
    return new;
  end $$;
  create trigger stand_still before update on webhooks.events for each row
    when (new.state = 'pending' and new.attempt > old.attempt) execute function stand_still();`;

export async function setWebhookStage(
  answer?: Parameters<typeof startReceiver>[0],
  environment: Readonly<Record<string, string>> = {},
): Promise<WebhookStage> {
  const upstream = await startScriptedUpstream();
  const receiver = await startReceiver(answer);
  const service = await startTestService(catalogueAt(upstream.baseUrl), {
    PURSER_WEBHOOK_ALLOW_PRIVATE: '1',
    ...environment,
  });
  after(async () => {
    await service.close();
    await upstream.close();
    await receiver.close();
  });
  const owner = await newOwner(service);
  const db = service.database.owner;
  await db.query(STAND_STILL);
  let paths = 0;

  async function newApp() {
    const { appId } = await owner.get(201, 'POST', '/apps', { name: 'App' });
    const { apiKey } = await owner.get(201, 'POST', `/apps/${String(appId)}/keys`, { mode: 'live' });
    return { appId: String(appId) as AppId, liveKey: String(apiKey) };
  }

  async function open(appId: AppId, userId: string): Promise<void> {
    await createWallets(db).open({ appId, userId: userId as EndUserId, currency: 'EUR', cap: undefined });
  }

  return {
    service,
    upstream,
    receiver,
    owner,
    newApp,
    open,
    subscribe: async (fields = { events: ['topup.completed'] }) => {
      const app = await newApp();
      const path = `/hook-${(paths += 1)}`;
      const { signingSecret } = await owner.get(201, 'PUT', `/apps/${app.appId}/webhook`, {
        endpointUrl: receiver.url + path,
        ...fields,
      });
      return { ...app, path, secret: String(signingSecret) };
    },
    topUp: async (appId, userId, amount, key = `${userId}-${Math.random()}`) => {
      await open(appId, userId);
      const credit = {
        appId,
        userId: userId as EndUserId,
        kind: 'top_up',
        amount: micros(BigInt(amount)),
        key,
      } as const;
      await createFunding(db).credit(credit);
    },
    connect: async (appId, userId, isConnected) => {
      await open(appId, userId);
      await createWallets(db).setConnected({ appId, userId: userId as EndUserId, isConnected });
    },
    endWaits: async () => {
      await db.query(`update webhooks.events set due_at = clock_timestamp() where due_at = 'infinity'`);
    },
    events: (appId) => selectEvents(db, appId),
    whenQuiet: () => waitUntil('no attempt is due or running', async () => !(await isBusy(db))).then(() => {}),
  };
}

async function selectEvents(db: Pool, appId: AppId): Promise<readonly EventRow[]> {
  const { rows } = await db.query<EventRow>(
    `select event_id, type, state, attempt, body, (select extract(epoch from w.due_at - a.at)::float
         from waits w join webhooks.attempts a using (event_id, attempt)
         where w.event_id = e.event_id and w.attempt = e.attempt - 1) as wait_seconds
     from webhooks.events e where app_id = $1 order by created_at, event_id`,
    [appId],
  );
  return rows;
}

async function isBusy(db: Pool): Promise<boolean> {
  const { rows } = await db.query<{ busy: boolean }>(
    `select exists (select from webhooks.events e join webhooks.subscriptions s using (subscription_id)
     where e.state = 'sending' or (e.state = 'pending' and e.due_at <= clock_timestamp() and s.status = 'active')) as busy`,
  );
  return rows[0]?.busy ?? true;
}

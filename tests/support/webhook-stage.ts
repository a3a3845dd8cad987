import { after } from 'node:test';
import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import type { AppId, EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { createFunding } from '../../packages/service/src/ledger/funding/funding.ts';
import { createWallets } from '../../packages/service/src/ledger/wallet/wallet.ts';
import { newOwner } from './control.ts';
import { sql, sqlValue } from './sql.ts';
import { setStage } from './stage.ts';
import { waitUntil } from './wait-until.ts';
import { startReceiver } from './webhook-receiver.ts';

export interface SubscribedApp {
  readonly appId: AppId;
  readonly path: string;
  readonly secret: string;
  readonly liveKey: string;
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

/** A service whose webhooks may reach this machine, an endpoint, and money that moves. It ends with the file. */
export async function setWebhookStage(
  answer?: Parameters<typeof startReceiver>[0],
  environment: Readonly<Record<string, string>> = {},
) {
  const receiver = await startReceiver(answer);
  const stage = await setStage({ environment: { PURSER_WEBHOOK_ALLOW_PRIVATE: '1', ...environment } });
  after(receiver.close);
  const { service } = stage;
  const owner = await newOwner(service);
  const db = service.database.owner;
  await db.query(STAND_STILL);
  let paths = 0;

  async function newApp() {
    const { appId } = await owner.get(201, 'POST', '/apps', { name: 'App' });
    const { apiKey } = await owner.get(201, 'POST', `/apps/${String(appId)}/keys`, { mode: 'live' });
    return { appId: String(appId) as AppId, liveKey: String(apiKey) };
  }

  return {
    ...stage,
    receiver,
    owner,
    newApp,
    /** An app of the owner whose events go to a separate path on the receiver. */
    subscribe: async (fields: Readonly<Record<string, unknown>> = { events: ['topup.completed'] }) => {
      const app = await newApp();
      const path = `/hook-${(paths += 1)}`;
      const hook = { endpointUrl: receiver.url + path, ...fields };
      const { signingSecret } = await owner.get(201, 'PUT', `/apps/${app.appId}/webhook`, hook);
      return { ...app, path, secret: String(signingSecret) };
    },
    ...walletsOf(db),
    /** Attempts never become due by themselves here. This makes all of them due. */
    endWaits: async () => {
      await sql(db)`update webhooks.events set due_at = clock_timestamp() where due_at = 'infinity'`;
    },
    events: (appId: AppId) => selectEvents(db, appId),
    /** Waits until no attempt of any app is due or running. */
    whenQuiet: () => waitUntil('no attempt is due or running', async () => !(await isBusy(db))).then(() => {}),
  };
}

function walletsOf(db: Pool) {
  const wallets = createWallets(db);
  const open = (appId: AppId, user: string) =>
    wallets.open({ appId, userId: user as EndUserId, currency: 'EUR', cap: undefined });
  return {
    /** The wallet of a user, opened empty if there is none. */
    open,
    /** A payment that was verified. */
    topUp: async (appId: AppId, user: string, amount: number, key = `${user}-${Math.random()}`) => {
      await open(appId, user);
      const credit = { appId, userId: user as EndUserId, kind: 'top_up', amount: micros(BigInt(amount)), key } as const;
      await createFunding(db).credit(credit);
    },
    connect: async (appId: AppId, user: string, isConnected: boolean) => {
      await open(appId, user);
      await wallets.setConnected({ appId, userId: user as EndUserId, isConnected });
    },
  };
}

async function selectEvents(db: Pool, appId: AppId): Promise<readonly EventRow[]> {
  return sql<EventRow>(db)`select event_id, type, state, attempt, body, (select extract(epoch
    from w.due_at - a.at)::float
        from waits w join webhooks.attempts a using (event_id, attempt)
        where w.event_id = e.event_id and w.attempt = e.attempt - 1) as wait_seconds
    from webhooks.events e where app_id = ${appId} order by created_at, event_id`;
}

async function isBusy(db: Pool): Promise<boolean> {
  const busy = await sqlValue<boolean>(db)`select exists (select from webhooks.events e join webhooks.subscriptions s
    using (subscription_id)
    where e.state = 'sending' or (e.state = 'pending' and e.due_at <= clock_timestamp() and s.status = 'active')) as busy`;
  return busy ?? true;
}

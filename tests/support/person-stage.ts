import assert from 'node:assert/strict';
import { after } from 'node:test';
import { personExportSchema } from '../../packages/contract/src/person-export.ts';
import { createPool, inTransaction, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import {
  type CheckoutId,
  type EndUserId,
  type IdentityId,
  newCheckoutId,
} from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import type { PaymentReport } from '../../packages/service/src/payments/processor/processor.ts';
import { insertCheckout } from '../../packages/service/src/payments/records/queries.ts';
import { reconcile } from '../../packages/service/src/payments/booking/reconcile.ts';
import { createPrivacy, type Privacy } from '../../packages/service/src/privacy/privacy.ts';
import type { Browser } from './page.ts';
import { chat, type Reply } from './client.ts';
import { newOperator, type Person } from './control.ts';
import { completionBody } from './scripted-upstream.ts';
import { sql, sqlValue } from './sql.ts';
import { setStage, type Stage } from './stage.ts';
import { peopleOf } from './people.ts';
import { sealedEmail } from './database.ts';

/** Where the pages about a person's own data begin. */
export const DATA = '/wallet/data';
/** What a provider answers. It must be kept nowhere. */
export const ANSWER = 'cnry-answer';

type File = ReturnType<typeof personExportSchema.parse>;

interface PersonStage extends Stage, ReturnType<typeof peopleOf> {
  readonly admin: Person;
  /** The pool with the rights of the service. */
  readonly live: Pool;
  readonly privacy: Privacy;
  readonly call: (user: string) => Promise<Reply>;
  /** The file that the page gives. */
  readonly fileOf: (browser: Browser) => Promise<File>;
  /** Books all money of a wallet as paid back by other means. */
  readonly empty: (user: string) => Promise<void>;
  /** A checkout for five euros that waits for its payment. */
  readonly checkoutFor: (user: string, payer?: IdentityId) => Promise<CheckoutId>;
  /** Books what the processor says of a paid checkout. */
  readonly paid: (checkoutId: CheckoutId, more?: Partial<PaymentReport>) => Promise<unknown>;
  /** Every table in which a word occurs. */
  /** The tables with this text, or with it as a sealed address. */
  readonly tablesWith: (word: string) => Promise<readonly string[]>;
  readonly booksOf: (user: string) => Promise<string>;
  readonly casesOf: (user: string) => Promise<readonly string[]>;
}

/** People with wallets whose data are exported and deleted. */
export async function setPersonStage(): Promise<PersonStage> {
  const stage = await setStage();
  const { service, app, upstream } = stage;
  const { url } = service.database;
  const admin = await newOperator(service);
  const { emails } = stage.service.database.owner;
  const live = createPool({ url, role: 'live', connectionsMax: 4, log: createLog('silent'), emails });
  after(() => live.end());
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  upstream.script({ body: completionBody({ model: 'm', content: ANSWER, usage }) });
  const walletPath = (user: string) => `/operator/apps/${app.appId}/wallets/${user}`;
  return {
    ...stage,
    ...peopleOf(stage),
    admin,
    live,
    privacy: createPrivacy(live),
    call: (user) => chat({ url: service.url, key: app.liveKey, user }),
    fileOf: async (browser) => {
      await browser.open(DATA);
      const reply = await browser.ask(`${DATA}/export`, { form: browser.fieldsOf(`${DATA}/export`) });
      assert.equal(reply.status, 200, reply.text);
      assert.match(reply.headers.get('content-disposition') ?? '', /attachment; filename="my-data.json"/);
      return personExportSchema.parse(JSON.parse(reply.text));
    },
    empty: async (user) => {
      const { wallet } = (await admin.get(200, 'GET', walletPath(user))) as { wallet: { balanceMicros: number } };
      if (wallet.balanceMicros === 0) return;
      const movement = { amountMicros: wallet.balanceMicros, reason: 'paid back', idempotencyKey: 'empty' };
      await admin.get(200, 'POST', `${walletPath(user)}/refund`, movement);
    },
    checkoutFor: async (user, identityId) => {
      const checkoutId = newCheckoutId();
      const wallet = { appId: app.appId, userId: user as EndUserId };
      const order = { amount: micros(5_000_000n), currency: 'EUR', processor: 'test', linkDigest: undefined };
      await insertCheckout(live, { checkoutId, ...wallet, ...order, identityId });
      return checkoutId;
    },
    paid: (checkoutId, more = {}) => {
      const report: PaymentReport = {
        checkoutId,
        processorPayment: `tp_${checkoutId}`,
        received: { amount: micros(5_000_000n), currency: 'EUR' },
        refunds: [],
        disputeMovements: [],
        ...more,
      };
      return inTransaction(live, (tx) => reconcile(tx, 'test', report));
    },
    ...readersOf(stage),
  };
}

/** What the tests read in the database. */
function readersOf({ service, app }: Stage): Pick<PersonStage, 'tablesWith' | 'booksOf' | 'casesOf'> {
  const { owner: database } = service.database;
  return {
    tablesWith: async (word) => {
      const rows = await sql<{ name: string }>(database)`select schemaname || '.' || tablename as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`;
      const found = rows.map(async ({ name }) => {
        const sought = `select from ${name} t where strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0 limit 1`;
        return (await database.query(sought, [word, sealedEmail(word)])).rowCount === 1 ? [name] : [];
      });
      return (await Promise.all(found)).flat();
    },
    booksOf: async (user) => {
      const books = await sqlValue<string>(database)`select string_agg(e::text, ' ' order by e.seq) as books
        from ledger.entries e
        join ledger.wallets w using (wallet_id) where w.app_id = ${app.appId} and w.user_id = ${user}`;
      return books ?? '';
    },
    casesOf: async (user) => {
      const rows = await sql<{ kind: string }>(database)`select kind from payments.cases where app_id = ${app.appId}
        and user_id = ${user} and closed_at is null order by opened_at`;
      return rows.map(({ kind }) => kind);
    },
  };
}

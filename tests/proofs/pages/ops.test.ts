import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSound, openChromium, type Tab } from '../../support/chromium.ts';
import { IS_FOR_PEOPLE, looks } from '../../support/looks.ts';
import { newOperator, newOwnApp, newOwner, PASSWORD } from '../../support/control.ts';
import { sealedEmail } from '../../support/database.ts';
import { newEvent } from '../../support/events.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

/** The pages for operators in a real browser: readable by axe, within the width, in both colours. One service for all of them. */

const OWN = 'http://purser.localhost';
const { service } = await setStage({
  environment: { PURSER_PUBLIC_URL: OWN, PURSER_OPERATOR_NAME: 'Northwind Models' },
});

/** On a phone, the navigation is wider than the screen. */
const IS_CURRENT_SEEN = `[...document.querySelectorAll('.side [aria-current]')].every((one) => one.getBoundingClientRect().right <= innerWidth)`;

async function signIn({ page }: Tab, email: string): Promise<void> {
  await page.goto(`${OWN}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).first().waitFor();
}

/** Calls of the last day by what became of them, and things that need a person. */
async function seed(appId: string): Promise<void> {
  const db = service.database.owner;
  await sql(db)`insert into stats.hours (app_id, mode, hour, model, outcome, calls, charged_micros, cost_micros, total)
    select ${appId}, 'live', date_trunc('hour', now() - n * interval '1 hour', 'UTC'), m.model, m.outcome, m.calls * (1 + n % 7),
      m.charged * (1 + n % 7), m.charged * (1 + n % 7) * 8 / 10, '{1,2,9,20,30,12,5,2,1,0,0,0,0,0,0,0}'
    from generate_series(0, 50) n, (values ('acme.large-1', 'charged', 40, 1234567), ('acme.small-1', 'charged', 90, 345678),
      ('acme.large-1', 'UPSTREAM_PROVIDER_ERROR', 2, 0), ('', 'TOO_MANY_REQUESTS', 5, 0)) m (model, outcome, calls, charged)
    on conflict do nothing`;
  await sql(db)`insert into payments.checkouts (checkout_id, app_id, user_id, amount_micros, currency, processor)
    values ('chk_kept', ${appId}, 'anna', 7000000, 'EUR', 'test')`;
  await sql(db)`
    insert into payments.payments (payment_id, checkout_id, app_id, user_id, processor, processor_payment, amount_micros,
      currency, state, anomaly)
    values ('pay_kept', 'chk_kept', ${appId}, 'anna', 'test', 'tp_kept', 5000000, 'EUR', 'kept', 'amount')`;
  const identity = await db.query<{ identity_id: string }>(
    `insert into identities.identities (identity_id, email) values ('idn_anna', $1) returning identity_id`,
    [sealedEmail('anna@example.test')],
  );
  await sql(db)`insert into connections.connections (connection_id, app_id, user_id, identity_id)
    values ('con_anna', ${appId}, 'anna', ${identity.rows[0]?.identity_id})`;
}

test('CP-10 the operator pages are sound on desk and phone', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const owner = await newOwner(service);
  const app = await newOwnApp(owner);
  await service.fund(app, 'anna', 10_000_000);
  await service.fund(app, 'a-user-of-another-app-with-a-long-name@example.test', 1_234_567);
  await seed(app.appId);
  await sql(service)`insert into payments.cases (case_id, payment_id, app_id, user_id, kind, subject)
    values ('cas_0000000000000000000000', 'pay_kept', ${app.appId}, 'anna', 'kept', 'pay_kept')`;
  const operator = await newOperator(service);
  const { account } = (await operator.get(200, 'GET', '/sessions/current')) as {
    account: { email: string; accountId: string };
  };
  await operator.get(200, 'POST', `/operator/apps/${app.appId}/suspend`, { reason: 'A leaked key' });
  const { keys } = (await operator.get(200, 'GET', `/operator/apps/${app.appId}`)) as { keys: { keyId: string }[] };
  const keyId = String(keys[0]?.keyId);
  const pages = {
    overview: '/ops',
    find: '/ops/find?q=chk_kept',
    apps: '/ops/apps',
    app: `/ops/app?id=${app.appId}`,
    key: `/ops/key?id=${keyId}`,
    event: `/ops/event?id=${await newEvent(service.database.owner, app.appId)}`,
    accounts: '/ops/accounts',
    payments: '/ops/payments',
    payment: '/ops/payment?id=pay_kept',
    account: `/ops/account?id=${account.accountId}`,
    catalogue: '/ops/catalogue',
    model: '/ops/model?id=acme.large-1',
    provider: '/ops/provider?name=upstream',
    audit: '/ops/audit',
    'sign-ins': '/ops/audit/sign-ins',
    health: '/ops/health',
    wallets: '/ops/wallets',
    wallet: `/ops/wallet?app=${app.appId}&user=anna`,
    act: `/ops/wallet-clawback?app=${app.appId}&user=anna&amount=12.000001`,
    move: `/ops/person-move?email=anna@example.test&to=new@example.test`,
    person: '/ops/person?email=anna@example.test',
    'person-export': '/ops/person-export?email=anna@example.test',
    'person-delete': '/ops/person-delete?email=anna@example.test',
  };
  for (const [look, options] of looks('desk-light')) {
    const tab = await chromium.open(options);
    await signIn(tab, account.email);
    for (const [name, path] of Object.entries(pages)) {
      await tab.page.goto(`${OWN}${path}`);
      await assertSound(tab, `ops-${name}-${look}`);
      assert.equal(
        await tab.page.evaluate(IS_CURRENT_SEEN),
        true,
        `${name}: the current page is out of sight in the navigation`,
      );
    }
    if (IS_FOR_PEOPLE && options.width !== 390) continue;
    // The names of fields are long, and a phone shows the old value and the new one beside them.
    await tab.page.goto(`${OWN}/ops/price?id=acme.large-1`);
    await tab.page.getByLabel('In force from (UTC)').fill('2100-01-01 00:00');
    await tab.page.getByLabel('Reason', { exact: true }).fill('Announced');
    await tab.page.getByRole('button', { name: 'Show what it does' }).click();
    await tab.page.getByText('Nothing has been saved yet').waitFor();
    await assertSound(tab, `ops-price-preview-${look}`);
  }
});

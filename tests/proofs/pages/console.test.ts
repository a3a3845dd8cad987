import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSound, openChromium, type Tab } from '../../support/chromium.ts';
import { looks } from '../../support/looks.ts';
import { mailTo, newOwner, PASSWORD } from '../../support/control.ts';
import { codeOf } from '../../support/second-factor.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

const OWN = 'http://purser.localhost';
const { service } = await setStage({
  environment: { PURSER_PUBLIC_URL: OWN, PURSER_OPERATOR_NAME: 'Northwind Models' },
});

async function signIn({ page }: Tab, email: string): Promise<void> {
  await page.goto(`${OWN}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).first().waitFor();
}

/** Events of the app whose page this is: one dropped after six attempts, and some delivered ones. Nothing is sent for them. */
async function seedEvents(url: string): Promise<void> {
  const [, appId] = /\/console\/(\w+)/.exec(url) ?? [];
  const db = service.database.owner;
  await db.query(
    `insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at, state, attempt, ended_at)
     select 'evt_' || md5($1 || n), $1, s.subscription_id, 'topup.completed', convert_to(json_build_object('id', 'evt_' || md5($1 || n),
         'type', 'topup.completed', 'createdAt', now(), 'appId', $1::text, 'data', json_build_object('userId', 'anna',
         'balanceMicros', 5000000, 'availableMicros', 5000000, 'currency', 'EUR'))::text, 'UTF8'), now() - n * interval '1 hour',
       case when n = 1 then 'dropped' else 'delivered' end, case when n = 1 then 6 else 1 end, now()
     from webhooks.subscriptions s, generate_series(1, 4) n where s.app_id = $1`,
    [appId],
  );
  await sql(db)`insert into webhooks.attempts (event_id, attempt, at, status, duration_ms, error)
    select e.event_id, n, e.created_at + n * interval '20 s', case when e.state = 'delivered' then 200 when n < 3 then 500 end, 31,
      case when e.state = 'dropped' and n > 2 then 'timeout' end
    from webhooks.events e, generate_series(1, e.attempt) n where e.app_id = ${appId}`;
}

/** Opens the users of the app whose live page this is. One of them has reached the cap. */
async function visitUsers(tab: Tab, look: string): Promise<void> {
  const { page } = tab;
  await sql(service)`insert into ledger.wallets (app_id, user_id, currency, cap_micros, cap_month, cap_spent_micros)
    select ${/\/console\/(\w+)/.exec(page.url())?.[1]}, 'user-' || n, 'EUR', 3700000, db.current_month(), n * 1234567 from generate_series(1, 3) n`;
  await page.getByRole('link', { name: 'Users', exact: true }).click();
  await page.getByRole('link', { name: 'user-3' }).waitFor();
  await assertSound(tab, `console-users-${look}`);
  await page.getByRole('link', { name: 'user-3' }).click();
  await page.getByText('Spent in total').waitFor();
  await assertSound(tab, `console-user-${look}`);
}

async function visitGuides(tab: Tab, look: string): Promise<void> {
  const { page } = tab;
  await page.goto(`${OWN}/guides`);
  await assertSound(tab, `guides-${look}`);
  await page.getByRole('link', { name: 'Guides for wallet owners' }).click();
  await assertSound(tab, `guides-owner-${look}`);
  await page.getByRole('link', { name: 'Guides for others' }).click();
  await page.getByRole('link', { name: 'Guides for operators' }).click();
  await assertSound(tab, `guides-operator-${look}`);
  await page.goto(`${OWN}/guides/clients`);
  await page.getByRole('searchbox', { name: 'Search' }).fill('webhook secret');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /results? for/ }).waitFor();
  await assertSound(tab, `guides-search-${look}`);
  await page.goto(`${OWN}/guides/app-developer?chapter=errors`);
  if (look.startsWith('desk')) {
    const heads = await page.getByRole('table').first().getByRole('columnheader').all();
    const places = await Promise.all(heads.map(async (head) => (await head.boundingBox())?.x ?? -1));
    assert.ok(places.length > 2, `${places.length} columns`);
    assert.deepEqual(
      places,
      places.toSorted((one, other) => one - other),
      'the columns stand in their order',
    );
  }
  await assertSound(tab, `guides-chapter-${look}`);
  await page.goto(`${OWN}/guides/sandbox`);
  const json = await page.evaluate<readonly Readonly<Record<'text' | 'shown', string>>[]>(JSON_AS_SHOWN);
  assert.ok(json.length > 2, `${json.length} pieces of JSON`);
  for (const { text, shown } of json) assert.equal(shown, text);
}

/** The JSON in tables: its characters in their order, and as they stand, line by line and each from left to right. */
const JSON_AS_SHOWN = `[...document.querySelectorAll('td code')].filter((code) => code.textContent.includes('{')).map((code) => {
  const range = document.createRange();
  const node = code.firstChild;
  const marks = [...node.data].map((mark, at) => {
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    const { left, bottom } = range.getBoundingClientRect();
    return { mark, left, line: Math.round(bottom) };
  });
  const wordOf = (some) => some.map(({ mark }) => mark).join('').replaceAll(/\\s/g, '');
  return { text: wordOf(marks), shown: wordOf(marks.toSorted((one, other) => one.line - other.line || one.left - other.left)) };
})`;

/** Presses Tab until an element is reached. Nobody needs a hundred presses. */
async function tabTo(
  { page }: Tab,
  role: 'textbox' | 'button' | 'combobox' | 'link' | 'radio',
  name: string,
): Promise<void> {
  const target = page.getByRole(role, { name, exact: true }).last();
  for (let presses = 0; presses < 100; presses += 1) {
    if (await target.evaluate((element) => element.matches(':focus'))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab never reaches ${name}.`);
}

/** Makes a call, finds it among others and chooses a language for it, with the keyboard alone. The page is the app's playground. */
async function useKeyboard(tab: Tab): Promise<void> {
  const { page } = tab;
  await page.goto(page.url());
  await tabTo(tab, 'textbox', 'User ID');
  await page.keyboard.type('keyboard-user');
  await tabTo(tab, 'button', 'Make the call');
  await page.keyboard.press('Enter');
  await page.getByText('The call as code').waitFor();
  await tabTo(tab, 'link', 'Calls');
  await page.keyboard.press('Enter');
  await tabTo(tab, 'link', '1 h');
  await page.keyboard.press('Enter');
  await page.waitForURL(/span=hour/);
  await tabTo(tab, 'textbox', 'User');
  await page.keyboard.type('keyboard-user');
  await page.keyboard.press('Enter');
  await page.waitForURL(/user=keyboard-user/);
  await tabTo(tab, 'link', 'Keep the list up to date');
  await page.keyboard.press('Enter');
  await page.locator('#latest td').getByText('keyboard-user').first().waitFor(); // Without a reload, once it is written.
}

/** Makes an app, subscribes a webhook, sends it a test event, invites somebody and withdraws that, with the keyboard alone. */
async function useKeyboardOnForms(tab: Tab): Promise<void> {
  const { page } = tab;
  await page.goto(`${OWN}/console`);
  await tabTo(tab, 'textbox', 'Name');
  await page.keyboard.type('Made by keyboard');
  await page.keyboard.press('Enter');
  await page.getByRole('status').waitFor();
  await tabTo(tab, 'link', 'Webhooks');
  await page.keyboard.press('Enter');
  await tabTo(tab, 'textbox', 'Address');
  await page.keyboard.type('https://93.184.215.14/hook');
  await tabTo(tab, 'button', 'Subscribe');
  await page.keyboard.press('Enter');
  await page.getByText('It is not shown again').waitFor();
  // The guard refuses to dial this one, so nothing leaves the machine.
  await sql(service)`update webhooks.subscriptions set endpoint_url = 'https://127.0.0.1/hook'`;
  await tabTo(tab, 'link', 'Webhooks');
  await page.keyboard.press('Enter');
  await tabTo(tab, 'button', 'Send');
  await page.keyboard.press('Enter');
  await page
    .getByText(/evt_test_/)
    .first()
    .waitFor();
  await tabTo(tab, 'link', 'Team');
  await page.keyboard.press('Enter');
  await tabTo(tab, 'textbox', 'E-mail');
  await page.keyboard.type('keyboard@example.test');
  await tabTo(tab, 'button', 'Send the invitation');
  await page.keyboard.press('Enter');
  await page.getByRole('status').waitFor();
  await tabToText(tab, 'Withdraw the invitation for');
  await page.keyboard.press('Enter');
  await tabTo(tab, 'button', 'Withdraw');
  await page.keyboard.press('Enter');
  await page.getByRole('status').waitFor();
}

/** Presses Tab until the focus is on something with this text, such as the line that opens a part of the page. */
async function tabToText({ page }: Tab, text: string): Promise<void> {
  for (let presses = 0; presses < 100; presses += 1) {
    if ((await page.locator(':focus', { hasText: text }).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab never reaches "${text}".`);
}

test('PG-05 the pages of the console are sound in every look', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const { email } = await newOwner(service);
  for (const [look, options] of looks('desk-light')) {
    const tab = await chromium.open(options);
    const { page } = tab;
    await signIn(tab, email);
    await page.goto(`${OWN}/console`);
    await assertSound(tab, `console-apps-${look}`);
    await page.getByLabel('Name').fill(`Reader ${look}`);
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    await assertSound(tab, `console-home-${look}`);
    await page.getByRole('link', { name: 'Sandbox', exact: true }).last().click();
    await page.getByLabel('Outcome of their next call').selectOption('throttled');
    await page.getByRole('button', { name: 'Set the next call' }).click();
    await page.getByText('The next call of test-user will have the outcome throttled.').waitFor();
    await assertSound(tab, `console-sandbox-${look}`);
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByRole('button', { name: 'Make the call' }).click();
    await page.getByText('The call as code').waitFor();
    await assertSound(tab, `console-playground-${look}`);
    if (look === 'desk-light') await useKeyboard(tab);
    await page.getByRole('link', { name: 'Keys', exact: true }).first().click();
    await page.getByLabel('Name').fill('Batch');
    await assertSound(tab, `console-keys-${look}`);
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('heading', { name: 'Your new key' }).waitFor();
    await assertSound(tab, `console-new-key-${look}`);
    await page.getByRole('link', { name: 'Go to the page of this key' }).click();
    await page.getByRole('heading', { name: 'Batch' }).waitFor();
    await assertSound(tab, `console-key-${look}`);
    await page.getByRole('link', { name: 'Calls' }).click();
    await page.getByLabel('Correlation ID or call ID').waitFor();
    await assertSound(tab, `console-calls-${look}`);
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByLabel('Address').fill('https://93.184.215.14/hook');
    await assertSound(tab, `console-webhooks-new-${look}`);
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await page.getByText('It is not shown again').waitFor();
    await seedEvents(page.url());
    await page.goto(page.url().replace('mode=sandbox', ''));
    await assertSound(tab, `console-webhooks-${look}`);
    await page.getByRole('link', { name: /UTC/ }).first().click();
    await page.getByRole('heading', { name: 'One event' }).waitFor();
    await assertSound(tab, `console-delivery-${look}`);
    await page.getByRole('link', { name: 'Models and prices' }).click();
    await page.getByRole('table').waitFor();
    await assertSound(tab, `console-models-${look}`);
    await page.getByRole('link', { name: 'Team' }).click();
    await page.getByLabel('E-mail').fill(`new-${look}@example.test`);
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByRole('status').waitFor();
    await page.getByText('Withdraw the invitation for').first().click();
    await assertSound(tab, `console-team-${look}`);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('table').getByText('Invited somebody').first().waitFor();
    await assertSound(tab, `console-activity-${look}`);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Redirect addresses').waitFor();
    await assertSound(tab, `console-settings-${look}`);
    await tab.page.goto(page.url().replace('mode=sandbox', ''));
    await assertSound(tab, `console-settings-live-${look}`);
    await visitUsers(tab, look);
    await visitGuides(tab, look);
    if (look === 'desk-light') await useKeyboardOnForms(tab);
  }
});

test('AU-06 CP-06 a person joins a team by keyboard only', async (t) => {
  const chromium = await openChromium(t, { 'purser.localhost': service.url });
  if (chromium === undefined) return;
  const [owner, { email }] = [await newOwner(service), await newOwner(service)];
  const { appId } = (await owner.get(201, 'POST', '/apps', { name: 'Theirs' })) as { appId: string };
  await owner.get(201, 'POST', `/apps/${appId}/invitations`, { email, role: 'developer' });
  const tab = await chromium.open();
  const { page } = tab;
  const press = async (role: 'button' | 'link', name: string) => {
    await tabTo(tab, role, name);
    await page.keyboard.press('Enter');
  };
  await page.goto(`${OWN}/invitation?token=${(await mailTo(service, email)).token}`);
  await press('link', 'Sign in');
  await page.waitForURL(`${OWN}/sign-in`);
  await tabTo(tab, 'textbox', 'E-mail');
  await page.keyboard.type(email);
  await tabTo(tab, 'textbox', 'Password');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${OWN}/invitation`);
  await press('button', 'Join the team');
  await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();
  await press('link', 'Account');
  await page.waitForURL(`${OWN}/account`);
  await press('link', 'Add a second factor');
  await page.waitForURL(`${OWN}/account/second-factor`);
  await press('link', 'Add an authenticator app');
  await page.waitForURL(`${OWN}/account/authenticator`);
  await tabTo(tab, 'textbox', 'Code');
  const secret = await page.locator('code', { hasText: /^[A-Z2-7 ]{20,}$/ }).innerText();
  await page.keyboard.type(codeOf(secret.replaceAll(' ', '')));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Your recovery codes' }).waitFor();
  await press('link', 'I have kept them');
  await page.getByText('10 are left.').waitFor();
});

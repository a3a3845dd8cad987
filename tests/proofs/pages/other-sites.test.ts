import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openChromium } from '../../support/chromium.ts';
import { journeyOf, OWN, setJourney, startOtherSite } from '../../support/journey.ts';
import { sql } from '../../support/sql.ts';

const stage = await setJourney();
const { service, refusedCall } = stage;

test('PG-02 no page for users can be framed', async (t) => {
  const { topupUrl } = await refusedCall();
  const framing = ['/wallet', '/wallet/sign-in', topupUrl.replace(OWN, '')];
  const frames = framing.map((path) => `<iframe src="${OWN}${path}"></iframe>`).join('');
  const evil = await startOtherSite(
    `${frames}<form method="post" action="${OWN}/wallet/sign-out"><button>Coffee</button></form>
<form method="post" action="${OWN}/wallet/sign-in"><input name="email" value="anna@example.test"><button>Tea</button></form>
<form method="post" action="${topupUrl}/consent"><input name="own" value="yes"><input name="cap" value="none"><button>Cake</button></form>`,
  );
  const chromium = await openChromium(t, { 'purser.localhost': service.url, 'evil.localhost': evil.url });
  if (chromium === undefined) return;
  const tab = await chromium.open();
  const { page } = tab;
  const journey = journeyOf(tab, stage);
  await page.goto(`${OWN}/wallet`);
  await journey.signIn('anna@example.test');
  await journey.at('Your wallet', 'wallet');
  const before = await countRows();

  await page.goto('http://evil.localhost/', { waitUntil: 'load' });
  const refused = tab.complaints.filter((text) => text.includes("frame-ancestors 'none'"));
  assert.equal(refused.length, framing.length, tab.complaints.join('\n'));
  for (const frame of page.frames().slice(1)) assert.equal(await frame.locator('h1').count(), 0);

  for (const name of ['Coffee', 'Tea', 'Cake']) {
    await page.goto('http://evil.localhost/');
    await page.getByRole('button', { name }).click();
    await page.getByRole('alert').getByText('not sent from a page of this service').waitFor();
  }
  assert.deepEqual(await countRows(), before);
  await page.goto(`${OWN}/wallet`);
  await journey.at('Your wallet', 'wallet');
});

/** Everything that such a form could have changed. */
async function countRows(): Promise<unknown> {
  return sql(service)`select (select count(*) from identities.sessions) as sessions, (select count(*)
    from connections.connections) as connections,
    (select count(*) from mail.messages) as messages`;
}

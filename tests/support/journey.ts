import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { createLogos } from '../../packages/service/src/developers/apps/logo.ts';
import type { AccountId } from '../../packages/service/src/kernel/values/ids.ts';
import { chat } from './client.ts';
import { assertSound, type Tab } from './chromium.ts';
import { mailTo } from './control.ts';
import { completionBody } from './scripted-upstream.ts';
import { sql } from './sql.ts';
import { setStage, type Stage } from './stage.ts';

/** The service as a browser finds it. */
export const OWN = 'http://purser.localhost';
/** Where the app takes users back. Its own query stays. */
export const BACK = 'http://localhost:3000/back?x=1';

const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };

/** A service whose pages a real browser opens, and an app with a logo and a user whose calls are refused. */
export async function setJourney() {
  const environment = {
    PURSER_PUBLIC_URL: OWN,
    PURSER_OPERATOR_NAME: 'Northwind Models',
    PURSER_SUPPORT_EMAIL: 'help@northwind.example',
  };
  const stage = await setStage({ environment });
  const { service, app, upstream } = stage;
  await sql(service)`update accounts.apps set redirect_uris = ${[BACK]} where app_id = ${app.appId}`;
  await createLogos(service.database.owner).set(
    { accountId: 'acct_journey' as AccountId, email: 'owner@example.test', from: '192.0.2.1' },
    app.appId,
    { type: 'image/png', image: picture() },
  );
  let users = 0;
  const call = (user: string) => {
    upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });
    return chat({ url: service.url, key: app.liveKey, user });
  };
  return {
    ...stage,
    call,
    /** A user of the app whose call is refused: who they are, and where the refusal sends them. */
    refusedCall: async () => {
      const user = `user-${(users += 1)}`;
      const refused = await chat({ url: service.url, key: app.liveKey, user });
      assert.equal(refused.status, 402, refused.text);
      return { user, topupUrl: refused.headers.get('x-service-topup-url') ?? '' };
    },
  };
}

/** A square of one colour, as PNG. */
function picture(): Buffer {
  const side = 64;
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(side * 3, Buffer.from([0xd9, 0x5f, 0x2b]))]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([8, 2], 8); // Eight bits per colour, three colours.
  const rows = deflateSync(Buffer.concat(Array<Buffer>(side).fill(row)));
  const start = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([start, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}

/** The requests that another site got. */
interface Asked {
  readonly path: string;
  readonly referer: string | undefined;
}

/** A site other than ours, with one page. */
export async function startOtherSite(
  html: string,
): Promise<{ readonly url: string; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(({ url = '', headers: { referer } }, response) => {
    if (url !== '/favicon.ico') asked.push({ path: url, referer });
    response.setHeader('content-type', 'text/html; charset=utf-8').end(`<!doctype html><title>Other</title>${html}`);
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** `look` names the saved pictures. Without it, pages are not checked. */
export function journeyOf(tab: Tab, { service }: Pick<Stage, 'service'>, look?: string) {
  const { page } = tab;
  const at = async (name: string | RegExp, picture: string) => {
    await page.getByRole('heading', { level: 1, name }).waitFor();
    if (look !== undefined) await assertSound(tab, `${picture}-${look}`);
  };
  return {
    /** Waits for the page with this heading and checks it. */
    at,
    /** Continues from the page that asks for the e-mail address. */
    signIn: async (email: string) => {
      await at('Sign in', 'sign-in');
      await page.getByLabel('E-mail').fill(email);
      await page.getByRole('button', { name: 'Send me a code' }).click();
      await at('Enter the code', 'code');
      await page.getByLabel('Code from the e-mail').fill((await mailTo(service, email)).token);
      await page.getByRole('button', { name: 'Sign in' }).click();
    },
    /** Connects to this app, by default the stage's own. */
    consent: async (appName = 'Test app') => {
      await at(`Connect ${appName}`, 'consent');
      await page.getByLabel('Monthly cap').selectOption('none');
      await page.getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Connect' }).click();
    },
    /** Goes from the amounts to the processor's page. */
    choose: async () => {
      await at(/^Top up your wallet/, 'amounts');
      await page.getByLabel(/^(€10\.00|10,00.€)$/).check();
      await page.getByRole('button', { name: 'Continue to payment' }).click();
    },
    pay: async (card?: string) => {
      await at('Test payment', 'pay');
      if (card !== undefined) await page.getByLabel('Card number').fill(card);
      await page.getByRole('button', { name: /^Pay / }).click();
    },
  };
}

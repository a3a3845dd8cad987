import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../../support/catalogue.ts';
import { addJoiningKey } from '../../support/keys.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { inChat } from './answers.ts';
import { NOT_RUN } from './home.ts';
import { runOpencode } from './opencode.ts';
import { sessionsOf } from './sessions.ts';

/** The agent opencode, unmodified, with its provider for OpenAI, alone with the service. */

const FUNDS = 10_000_000;
/** How often in a row a connection is lost. */
const CUTS = 2;
const tokensOf = (index: number) => ({ prompt: 5_000 + index, completion: 30 });

if (NOT_RUN === undefined) await testOpencode();
else test('WI-04 opencode', { skip: `not run: ${NOT_RUN}` });

async function testOpencode(): Promise<void> {
  const { service, upstream, app, newUser } = await setStage({ checksBooks: true, model: { onAbandon: 'drain' } });

  test('WI-04 CP-19 opencode finishes a prompt, and pays for the title and the turn', async () => {
    const user = await newUser(FUNDS);
    upstream.script((_, index) => inChat({ text: 'Hello there.' }, { prompt: 5_000 + index, completion: 30 }));
    const { code, out, said } = await runOpencode(service, { key: app.liveKey, user }, 'Say hello.');
    assert.deepEqual([code, out], [0, 'Hello there.\n'], said);
    const { balance, held } = await service.wallet(app, user);
    const charges = [0, 1].map((index) => chargeFor({ prompt: 5_000 + index, completion: 30 }));
    assert.deepEqual([upstream.requests.length, held], [2, 0]);
    const charged = charges[0]! + charges[1]!;
    assert.equal(FUNDS - balance, charged);
    const session = { client: 'opencode', wire: 'responses', calls: 2, charged };
    assert.deepEqual(await sessionsOf(service, user), [session]);
  });

  for (const joins of [false, true]) {
    test(`CC-14 a connection that opencode loses is paid ${joins ? 'once if its key joins' : 'with each try'}`, async () => {
      const key = joins ? await addJoiningKey(service.database, app) : app.liveKey;
      const user = await newUser(FUNDS);
      const before = upstream.requests.length;
      upstream.script((_, index) => inChat({ text: 'Hello there.' }, tokensOf(index - before)));
      let cuts = 0;
      const watch: Parameters<typeof runOpencode>[1]['watch'] = (part, connection) => {
        if (cuts === CUTS || !part.includes('Hello')) return;
        cuts += 1;
        connection.destroy();
      };
      const { code, out, said } = await runOpencode(service, { key, user, watch }, 'Say hello.');
      assert.deepEqual([code, out], [0, 'Hello there.\n'], said);
      await waitUntil('nothing is held', async () => (await service.wallet(app, user)).held === 0);
      const made = upstream.requests.length - before;
      assert.equal(made, joins ? 2 : 2 + CUTS);
      const { balance } = await service.wallet(app, user);
      const charges = Array.from({ length: made }, (_, index) => chargeFor(tokensOf(index)));
      assert.equal(
        FUNDS - balance,
        charges.reduce((sum, charge) => sum + charge, 0),
      );
    });
  }

  test('WI-07 opencode shows the link of a 402', async () => {
    const { code, said, out } = await runOpencode(service, { key: app.liveKey, user: 'poor' }, 'Say hello.');
    assert.equal(code, 1);
    assert.match(said + out, /does not cover the call.*\/topup\//s);
  });
}

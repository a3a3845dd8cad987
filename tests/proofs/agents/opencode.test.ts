import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../../support/catalogue.ts';
import { setStage } from '../../support/stage.ts';
import { inChat } from './answers.ts';
import { NOT_RUN } from './home.ts';
import { runOpencode } from './opencode.ts';
import { sessionsOf } from './sessions.ts';

/** The agent opencode, unmodified, with its provider for OpenAI, alone with the service. */

const FUNDS = 10_000_000;

if (NOT_RUN === undefined) await testOpencode();
else test('WI-04 opencode', { skip: `not run: ${NOT_RUN}` });

async function testOpencode(): Promise<void> {
  const { service, upstream, app, newUser } = await setStage({ checksBooks: true });

  test('WI-04 CP-19 opencode finishes a prompt, and pays for the title and the turn', async () => {
    const user = await newUser(FUNDS);
    upstream.script((_, index) => inChat({ text: 'Hello there.' }, { prompt: 5_000 + index, completion: 30 }));
    const { code, out, said } = await runOpencode(service, app.liveKey, user, 'Say hello.');
    assert.deepEqual([code, out], [0, 'Hello there.\n'], said);
    const { balance, held } = await service.wallet(app, user);
    const charges = [0, 1].map((index) => chargeFor({ prompt: 5_000 + index, completion: 30 }));
    assert.deepEqual([upstream.requests.length, held], [2, 0]);
    const charged = charges[0]! + charges[1]!;
    assert.equal(FUNDS - balance, charged);
    const session = { client: 'opencode', wire: 'responses', calls: 2, charged };
    assert.deepEqual(await sessionsOf(service, user), [session]);
  });

  test('WI-07 opencode shows the link of a 402', async () => {
    const { code, said, out } = await runOpencode(service, app.liveKey, 'poor', 'Say hello.');
    assert.equal(code, 1);
    assert.match(said + out, /does not cover the call.*\/topup\//s);
  });
}

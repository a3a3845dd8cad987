import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOperator } from '../../support/control.ts';
import { openStream } from '../../support/open-stream.ts';
import { previewedActs, type Wanted } from './previews.ts';
import { streamSteps } from '../../support/scripted-upstream.ts';
import { sequenceOf } from '../../support/sequence.ts';
import { setStripeStage } from '../../support/stripe-stage.ts';
import { walletOwnersOf } from '../../support/people.ts';

const { service, app, stripe, upstream, newUser, begin, tell } = await setStripeStage({
  model: { timeoutMs: 60_000 },
});
const operator = await newOperator(service);

/** A user whose wallet holds one payment of 5 EUR, and the payment. */
async function payer(): Promise<{ readonly user: string; readonly here: string }> {
  const user = await newUser(0);
  const there = stripe.pay((await begin(user, 5_000_000)).session);
  assert.equal((await tell('checkout.session.completed', there)).status, 200);
  const { payments } = await operator.get(200, 'GET', `/operator/apps/${app.appId}/wallets/${user}/payments`);
  const [payment] = payments as readonly Readonly<Record<string, unknown>>[];
  return { user, here: String(payment?.['paymentId']) };
}

test('CP-05 WA-09 a preview says exactly what its act then does', async () => {
  const previewed = previewedActs(operator, app.appId);
  const random = sequenceOf(46);
  const [{ user: payerName, here }, busy, poor] = [await payer(), await newUser(900_000), await newUser(0)];
  const owned = await newUser(70_000, 40_000);
  await (await walletOwnersOf(service)()).connect(app, owned);
  // One wallet has a running call, whose hold no act takes away.
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const { promise: held, resolve: end } = Promise.withResolvers<void>();
  const steps = streamSteps({ model: 'm', pieces: ['begun', 'ended'], usage, includeUsageChunk: true });
  upstream.script({ body: [...steps.slice(0, 2), { waitFor: held }, ...steps.slice(2)] });
  const stream = await openStream({ url: service.url, key: app.liveKey, user: busy });
  await stream.until('begun');

  const amounts = [1, 999, 10_000, 2_000_000, 5_000_000, 900_000_000, Number.MAX_SAFE_INTEGER];
  const acts: readonly Wanted['act'][] = [
    'credit',
    'refund',
    'refund',
    'clawback',
    'reinstate',
    'reinstate',
    'release',
    'open',
  ];
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const counts: Record<string, number> = {};
  for (let times = 0; times < 40; times += 1) {
    const act = pick(acts);
    const user = pick([payerName, busy, poor, owned, ...(act === 'open' ? [`new-${times}`] : [])]);
    const amountMicros = pick(amounts);
    const wanted: Wanted =
      act === 'reinstate'
        ? { act, writeOff: random() < 0.5 }
        : act === 'release'
          ? { act }
          : act === 'refund' && random() < 0.3
            ? { act, amountMicros, paymentId: here }
            : { act, amountMicros, ...(act === 'open' ? { spendCapMicros: amountMicros } : {}) };
    const outcome = `${act} ${await previewed(user, wanted)}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  for (const [amountMicros, outcome] of [
    [3, 'done'],
    [3, 'nothing'],
    [4, 'CONFLICT'],
  ] as const) {
    assert.equal(await previewed(owned, { act: 'credit', amountMicros }, 'one-key'), outcome);
  }
  // Chance may have left one out, so each act is done once more.
  for (const wanted of [
    { act: 'open', amountMicros: 3, spendCapMicros: 8 },
    { act: 'clawback', amountMicros: 7 },
    { act: 'credit', amountMicros: 9 },
    { act: 'reinstate' },
    { act: 'refund', amountMicros: 6 },
    { act: 'reinstate', writeOff: true },
  ] as const) {
    assert.equal(await previewed('opened-last', wanted), 'done');
  }
  for (const outcome of ['refund done', 'release done', 'credit CONFLICT', 'reinstate nothing']) {
    assert.ok((counts[outcome] ?? 0) > 0, `${outcome}: ${JSON.stringify(counts)}`);
  }
  end();
  await stream.whole();
  assert.deepEqual(await service.check(), []);
});

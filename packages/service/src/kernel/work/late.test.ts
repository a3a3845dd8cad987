import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLate } from '#kernel/work/late.ts';

test('what is opened late is opened once for all, and again after a fault', async () => {
  const opened: PromiseWithResolvers<string>[] = [];
  const late = createLate(() => {
    const next = Promise.withResolvers<string>();
    opened.push(next);
    return next.promise;
  });
  assert.equal(await late.opened(), undefined);
  const both = Promise.allSettled([late.get(), late.get()]);
  assert.equal(opened.length, 1);
  const whatOpened = late.opened();
  opened[0]?.reject(new Error('a file is missing'));
  assert.deepEqual(
    (await both).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await whatOpened, undefined);
  const again = [late.get(), late.get()];
  opened[1]?.resolve('open');
  assert.deepEqual(await Promise.all([...again, late.opened()]), ['open', 'open', 'open']);
  assert.equal(opened.length, 2);
});

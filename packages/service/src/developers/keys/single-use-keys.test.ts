import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppFacts } from '#developers/keys/directory.ts';
import { withSingleUseKeys } from '#developers/keys/single-use-keys.ts';
import { newAppId } from '#kernel/values/ids.ts';

test('AU-01 a single-use key works once, within a minute', async () => {
  let nowMs = 0;
  const appId = newAppId();
  const app = { appId } as AppFacts;
  const none = { find: () => undefined, refresh: async () => {} };
  const keys = withSingleUseKeys(none, async (asked) => (asked === appId ? app : undefined), { nowMs: () => nowMs });
  const make = async () => String(await keys.makeSingleUse(appId, 'live'));
  const find = (key: string) => keys.find(key);
  const key = await make();
  assert.deepEqual(
    { ...(await find(key)), key: undefined },
    {
      app,
      mode: 'live',
      keyId: 'key_console',
      boundUser: null,
      joinSeconds: null,
      key: undefined,
    },
  );
  assert.equal(find(key), undefined);
  const late = await make();
  nowMs = 60_000;
  assert.equal(find(late), undefined);
  assert.equal(await keys.makeSingleUse(newAppId(), 'live'), undefined);
  const first = await make();
  const later = await Promise.all(Array.from({ length: 1_000 }, make));
  assert.equal(find(first), undefined);
  assert.ok(later.every((one) => find(one) !== undefined));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { createFormerCells, type FormerAnswer, type User } from '#http/cells/wallets/former-cells.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { OtherCell } from '#kernel/values/slot.ts';

const USER = { appId: 'app_1' as AppId, userId: 'user-1' as EndUserId };

/** Its answer is the name of the cell that is asked. */
const NAME: CellQuestion<User, FormerAnswer<string>> = {
  path: '/cells/name',
  asked: z.custom<User>(),
  answer: z.object({ found: z.string(), givers: z.array(z.string()) }),
  bytesMax: 1,
  waitMs: 1,
};

/** Asks from c1, in cells that were given the slot by these. */
async function asked(givers: Readonly<Record<string, readonly string[]>>): Promise<readonly string[]> {
  const others: readonly OtherCell[] = ['c2', 'c3', 'c4'].map((name) => ({ name, baseUrl: '' }));
  const former = createFormerCells({
    own: 'c1',
    map: { giversOf: () => givers['c1'] ?? [], others: () => others },
    ask: ({ name }, question) => question.answer.parseAsync({ found: name, givers: givers[name] ?? [] }),
  });
  return former.ask(NAME, USER);
}

test('CE-06 BI-03 each former cell is asked once', async () => {
  assert.deepEqual(await asked({}), []);
  assert.deepEqual(await asked({ c1: ['c2'], c2: ['c1', 'c3'], c3: ['c2'] }), ['c2', 'c3']);
  assert.deepEqual(await asked({ c1: ['c2', 'c3'], c2: ['c4'], c3: ['c4'] }), ['c2', 'c3', 'c4']);
  await assert.rejects(asked({ c1: ['c9'] }), /no cell c9/);
});

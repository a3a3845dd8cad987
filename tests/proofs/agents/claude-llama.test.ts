import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { chargeFor } from '../../support/catalogue.ts';
import type { Bill } from '../../support/receipts.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { NO_LLAMA, startTaughtLlama } from '../real-servers/taught-llama.ts';
import { FUNDS, OUTPUT_MAX, spentBy, withClaude } from './claude-stage.ts';
import { NOT_RUN } from './home.ts';

/** Claude Code, unmodified, with a server of models behind that nobody here wrote. */

const WORK = {
  tool: 'Bash',
  given: { command: 'echo made > made.txt', description: 'Make the file' },
  text: 'The file is made.',
};
const whyNot = NOT_RUN ?? NO_LLAMA;

test('WI-10 finishes a task with a tool call by llama.cpp', { skip: whyNot && `not run: ${whyNot}` }, async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'purser-llama-'));
  const llama = await startTaughtLlama(directory, WORK);
  after(async () => {
    await llama.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const stage = await setStage({
    checksBooks: true,
    catalogue: ({ models, ...others }) => ({
      ...others,
      providers: { upstream: { kind: 'openai-compatible', baseUrl: `http://127.0.0.1:${llama.port}/v1` } },
      models: models.map((model) => ({ ...model, providerModel: 'taught', maxOutputTokens: OUTPUT_MAX })),
    }),
  });
  await withClaude(stage, FUNDS, { key: stage.app.liveKey }, async (claude, user) => {
    const { code, out, said, statuses } = await claude.run(['Make the file made.txt.']);
    assert.deepEqual([code, out, statuses], [0, `${WORK.text}\n`, [200, 200]], said);
    assert.equal(readFileSync(path.join(claude.home.work, 'made.txt'), 'utf8'), 'made\n');
    const bills = await sql<Bill['tokens'] & { readonly charged: number; readonly isEstimated: boolean }>(
      stage.service,
    )`
      select prompt_tokens::float8 as prompt, cached_tokens::float8 as cached, completion_tokens::float8 as completion,
        charged_micros::float8 as charged, is_estimated as "isEstimated"
      from usage.calls order by seq`;
    // Eight words of a call, six of a text, and the end of each.
    assert.deepEqual(
      bills.map(({ completion, isEstimated }) => [completion, isEstimated]),
      [
        [9, false],
        [7, false],
      ],
    );
    for (const { prompt, cached, completion, charged } of bills) {
      assert.ok(prompt > 10_000, String(prompt));
      assert.equal(charged, chargeFor({ prompt, cached, completion }));
    }
    assert.equal(
      await spentBy(stage, user),
      bills.reduce((sum, { charged }) => sum + charged, 0),
    );
  });
});

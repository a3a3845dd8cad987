import { digestOfApiKey, hintOfApiKey, newApiKey } from '../../../packages/service/src/developers/keys/key-text.ts';
import { insertKey } from '../../../packages/service/src/developers/keys/queries.ts';
import { NO_SETTINGS } from '../../../packages/service/src/developers/keys/settings.ts';
import { inTransaction, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { bumpGeneration } from '../../../packages/service/src/db/processes/queries.ts';
import type { AppId, KeyId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { askUntilAnswered } from './ask.ts';
import type { KeyPlan } from './key-plan.ts';
import type { Random } from './random.ts';
import { sleep } from './sleep.ts';

/** The keys of a history that have a monthly budget (CP-08). */
export type Keys = Awaited<ReturnType<typeof mintKeys>>;

interface KeysOptions {
  readonly owner: Pool;
  readonly appId: string;
  /** The key without a budget. */
  readonly demoKey: string;
  readonly keys: readonly KeyPlan[];
  readonly random: Random;
}

const CHANGE_MS_MAX = 1_500;
const BUDGET_MAX = 150_000;

export async function mintKeys({ owner, appId, demoKey, keys, random }: KeysOptions) {
  const texts = new Map(keys.map(({ name }) => [name, newApiKey('live')]));
  const budgets = new Map(keys.map(({ name, budget }) => [name, budget]));
  const most = new Map<string, number>();
  for (const { line, budget } of keys) most.set(line, Math.max(budget, most.get(line) ?? 0));
  await inTransaction(owner, async (tx) => {
    const generation = await bumpGeneration(tx, 'accounts');
    for (const { name, line, budget } of keys) {
      const apiKey = texts.get(name) ?? '';
      const succeeds = name === line ? undefined : { keyId: keyIdOf(line), line: keyIdOf(line) };
      const settings = { ...NO_SETTINGS, monthlyBudget: micros(BigInt(budget)) };
      const of = { keyId: keyIdOf(name), appId: appId as AppId, mode: 'live', settings, succeeds } as const;
      await insertKey(tx, { ...of, digest: digestOfApiKey(apiKey), hint: hintOfApiKey(apiKey) }, generation);
    }
  });
  const changing = keys.filter(({ kind }) => kind === 'changing');
  return {
    /** The text of a key. Undefined is the demo's own, which has no budget. */
    textOf: (name: string | undefined) => (name === undefined ? demoKey : (texts.get(name) ?? '')),
    /** Raises and lowers the budgets of keys of the kind `changing`, until the signal is aborted. */
    change: async (over: AbortSignal) => {
      while (!over.aborted) {
        const { name, line } = random.pick(changing);
        const budget = random.whole(500, BUDGET_MAX);
        most.set(line, Math.max(budget, most.get(line) ?? 0)); // It may be in force before the answer comes.
        await askUntilAnswered(owner, CHANGE, [appId, keyIdOf(name), budget], () => {});
        budgets.set(name, budget);
        await sleep(random.whole(100, CHANGE_MS_MAX));
      }
    },
    /** Every key with what its line may spend, and the most that it ever might. */
    facts: () =>
      keys.map(({ name, line, kind }) => ({
        name,
        line: keyIdOf(line),
        isWide: kind === 'wide',
        budget: budgets.get(name) ?? 0,
        budgetMax: most.get(line) ?? 0,
      })),
  };
}

/** The change is made as an owner's change is: with the next generation, by which the gateways notice. */
const CHANGE = `
  with next as (
    update db.generations set generation = generation + 1 where topic = 'accounts' returning generation
  )
  update accounts.api_keys k set budget_micros = $3, generation = n.generation
  from next n where k.app_id = $1 and k.key_id = $2
  returning k.key_id as answer`;

function keyIdOf(name: string): KeyId {
  return `key_prove_${name}` as KeyId;
}

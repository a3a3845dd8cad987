import assert from 'node:assert/strict';
import { chargeFor } from '../../support/catalogue.ts';
import { setStage, type Stage } from '../../support/stage.ts';
import type { Deed, Tokens } from './answers.ts';
import { type ClaudeCode, setUpClaudeCode } from './claude-code.ts';
import type { Speaks } from './messages-answers.ts';

/** A service for Claude Code: `large` is a model of chat completions, and `claude-opus-5-5` is one of Claude. */

export const FUNDS = 10_000_000;
export const OUTPUT_MAX = 64_000;
export const DONE: Deed = { text: 'The file is made.' };
/** What each call uses, by its number: all are different, so that none can stand for another. */
export const tokensOf = (index: number): Tokens => ({ prompt: 9_000 + index, completion: 40 + 3 * index });
export const chargeOf = (...indexes: readonly number[]): number =>
  indexes.reduce((sum, index) => sum + chargeFor(tokensOf(index)), 0);

export function setClaudeStage(): Promise<Stage> {
  return setStage({
    checksBooks: true,
    // It drains, so that the usage of a stream that was left is known exactly.
    model: { onAbandon: 'drain', maxOutputTokens: OUTPUT_MAX },
    catalogue: ({ providers, models, aliases }) => {
      const { outputLimitParameter: _, ...model } = models[0]!;
      const claude = { ...model, id: 'acme.claude-1', provider: 'claude', providerModel: 'claude-opus-5-5' };
      const { baseUrl } = providers.upstream;
      return {
        providers: { ...providers, claude: { kind: 'anthropic', baseUrl } },
        models: [...models, claude],
        aliases: { ...aliases, 'claude-opus-5-5': 'acme.claude-1' },
      };
    },
  });
}

/** Runs it for a new user with a balance, under a name of a model. */
export async function withClaude(
  { service, newUser }: Stage,
  balance: number,
  settings: Omit<Parameters<typeof setUpClaudeCode>[1], 'user'>,
  use: (claude: ClaudeCode, user: string) => Promise<void>,
) {
  const user = await newUser(balance);
  const claude = setUpClaudeCode(service, { ...settings, user });
  try {
    await use(claude, user);
  } finally {
    claude.home.remove();
  }
}

/** Answers with these deeds from now on. Returns a function that says how many requests came since. */
export function script({ upstream }: Stage, speaks: Speaks, deeds: readonly Deed[]): () => number {
  const before = upstream.requests.length;
  upstream.script((request, index) => {
    const at = index - before;
    return speaks(request, deeds[Math.min(at, deeds.length - 1)] ?? DONE, tokensOf(at));
  });
  return () => upstream.requests.length - before;
}

export async function spentBy({ service, app }: Stage, user: string, funds = FUNDS): Promise<number> {
  const { balance, held, openStreams } = await service.wallet(app, user);
  assert.deepEqual([held, openStreams], [0, 0]);
  return funds - balance;
}

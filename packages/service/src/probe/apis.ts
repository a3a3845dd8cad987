import type { Api } from '@purser/contract/catalogue.ts';
import { askPlain, isAnswer, type Manner, type Outcome } from '#probe/exchange.ts';
import { type Finding, toolFinding } from '#probe/findings.ts';
import { HELLO, TOOL } from '#probe/questions.ts';

/** Which interfaces an upstream serves. */
export interface ProbedApis {
  readonly findings: readonly Finding[];
  /** The one that the other questions are asked by. */
  readonly asked: readonly Api[] | undefined;
  /** What the entry should say. */
  readonly served: readonly Api[] | undefined;
}

const APIS: readonly Api[] = ['chat', 'responses'];
const WORDS: Readonly<Record<Api, string>> = {
  chat: 'chat completions',
  responses: 'Responses',
  embeddings: 'embeddings',
};
/** A server answers so where it serves nothing, or where it does not serve the model. */
const NOTHING_THERE: ReadonlySet<number | undefined> = new Set([404, 405]);

/**
 * Asks for each interface whether the upstream serves it. `stopAt` throws for a failure that concerns no single question. `listed`: what
 * the entry says.
 */
export async function probeApis(
  listed: readonly Api[],
  manner: (apis: readonly Api[]) => Manner,
  stopAt: (outcome: Outcome, isFirst: boolean) => Outcome,
): Promise<ProbedApis> {
  const found = new Map<Api, Finding>();
  for (const api of APIS) {
    const outcome = await askPlain(manner([api]), HELLO);
    found.set(api, findingOf(api, isNowhere(outcome) ? outcome : stopAt(outcome, api === 'chat')));
  }
  const is = (api: Api, answer: Finding['is']): boolean => found.get(api)?.is === answer;
  const served = APIS.filter((api) => is(api, 'yes') || (listed.includes(api) && is(api, 'unclear')));
  const usesChat = (served.length === 0 ? listed : served).includes('chat');
  return {
    findings: [...found.values()],
    asked: usesChat ? ['chat'] : ['responses'],
    served: served.length === 0 ? undefined : served,
  };
}

/**
 * Asks for a tool again by Responses, if it did not work by chat completions: some models take tools nowhere else. Returns undefined
 * unless it works there.
 */
export async function probeToolElsewhere(
  { served = [], asked = [] }: ProbedApis,
  tool: Finding,
  manner: (apis: readonly Api[]) => Manner,
): Promise<Finding | undefined> {
  if (tool.is !== 'no' || asked.includes('responses') || !served.includes('responses')) return undefined;
  const finding = toolFinding(await askPlain(manner(['responses']), TOOL));
  return finding.is === 'yes' ? { ...finding, words: 'by Responses alone' } : undefined;
}

function isNowhere(outcome: Outcome): boolean {
  return !isAnswer(outcome) && NOTHING_THERE.has(outcome.status);
}

function findingOf(api: Api, outcome: Outcome): Finding {
  const what = WORDS[api];
  if (isAnswer(outcome)) return { what, is: 'yes', words: 'it answers' };
  const status = outcome.status === undefined ? '' : ` (${outcome.status})`;
  return isNowhere(outcome)
    ? { what, is: 'no', words: `it serves none for this model${status}` }
    : { what, is: 'unclear', words: `it did not answer${status}` };
}

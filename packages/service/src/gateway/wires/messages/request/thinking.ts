import type { ModelSupport } from '#gateway/call/wire.ts';
import type { Echo } from '#gateway/wires/messages/conversation/echo.ts';
import { EFFORTS } from '#gateway/wires/messages/request/parameters.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** What a model is asked about its thoughts, in the form of chat completions, and what it has no word for. */
interface Thinking {
  readonly asked: JsonObject;
  readonly leftOut: readonly string[];
}

/** Anthropic's own default. */
const DEFAULT_EFFORT = 'high';

/** The share of the output limit that a budget may be of, for each effort. Adapters give about as much of it back. */
const SHARES: readonly (readonly [effort: string, most: number])[] = [
  ['low', 0.35],
  ['medium', 0.65],
];

/** How much thinking was asked for, for the answer. */
export function shownThinking({ thinking }: JsonObject): Echo['thinking'] {
  if (!isJsonObject(thinking) || thinking['type'] === 'disabled') return undefined;
  return thinking['display'] === 'omitted' ? 'hidden' : 'shown';
}

/**
 * What `thinking` and `output_config.effort` ask of a model, in the words that it takes. Claude Code sends both with each call, so what
 * a model has no word for is left out.
 */
export function thinkingOf(body: JsonObject, supports: ModelSupport): Thinking {
  const { thinking, output_config: config } = body;
  const given = isJsonObject(config) ? config['effort'] : undefined;
  const effort = typeof given === 'string' ? given : undefined;
  const block = isJsonObject(thinking) ? thinking : undefined;
  if (block?.['type'] === 'disabled') return notThinking(supports);
  if (block === undefined)
    return effort === undefined || isSteered(body) ? NOTHING : byEffort(effort, supports, EFFORT_PATH);
  const budget = typeof block['budget_tokens'] === 'number' ? block['budget_tokens'] : undefined;
  const asked = switchedOn(budget, supports);
  if (asked !== undefined) {
    const more = effort === undefined ? NOTHING : byEffort(effort, supports, EFFORT_PATH);
    return { asked: { ...asked, ...more.asked }, leftOut: more.leftOut };
  }
  const limit = Number(body['max_tokens']);
  const byBudget = budget === undefined ? DEFAULT_EFFORT : effortOf(budget / limit);
  return byEffort(effort ?? byBudget, supports, effort === undefined ? 'thinking' : EFFORT_PATH);
}

const EFFORT_PATH = 'output_config.effort';
const NOTHING: Thinking = { asked: {}, leftOut: [] };

/** An effort alone makes some models think, and those that think take none of these. */
function isSteered({ temperature = null, top_p: topP = null, tool_choice: choice }: JsonObject): boolean {
  const isSampled = [temperature, topP].some((value) => value !== null && value !== 1);
  const type = isJsonObject(choice) ? choice['type'] : undefined;
  return isSampled || type === 'any' || type === 'tool';
}

/** Only a switch can turn thoughts off: vendors differ in whether they take an effort of "none". */
function notThinking(supports: ModelSupport): Thinking {
  const block = { type: 'disabled' };
  if (supports.parameter('thinking', block)) return { asked: { thinking: block }, leftOut: [] };
  if (supports.parameter('enable_thinking', false)) return { asked: { enable_thinking: false }, leftOut: [] };
  return NOTHING;
}

/** The switches of vendors, which a model takes only if its entry of the catalogue lists them. */
function switchedOn(budget: number | undefined, supports: ModelSupport): JsonObject | undefined {
  const block = { type: 'enabled', ...(budget === undefined ? {} : { budget_tokens: budget }) };
  if (supports.parameter('thinking', block)) return { thinking: block };
  const bounded =
    budget !== undefined && supports.parameter('thinking_budget', budget) ? { thinking_budget: budget } : {};
  if (supports.parameter('enable_thinking', true)) return { enable_thinking: true, ...bounded };
  return budget !== undefined && 'thinking_budget' in bounded ? bounded : undefined;
}

function effortOf(share: number): string {
  return SHARES.find(([, most]) => share <= most)?.[0] ?? DEFAULT_EFFORT;
}

/** The nearest effort that the model takes: a lower one first. */
function byEffort(effort: string, supports: ModelSupport, path: string): Thinking {
  const place = EFFORTS.indexOf(effort);
  const nearest = [...EFFORTS.slice(0, place + 1).toReversed(), ...EFFORTS.slice(place + 1)];
  const taken = nearest.find((one) => supports.parameter('reasoning_effort', one));
  return taken === undefined ? { asked: {}, leftOut: [path] } : { asked: { reasoning_effort: taken }, leftOut: [] };
}

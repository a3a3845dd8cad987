/**
 * What the Gemini models take of a request. `@ai-sdk/google` knows most of it too, but leaves out or changes silently what a model
 * does not take, and is not loaded when a request is checked.
 */
interface Gemini {
  /**
   * The number of the model, such as 2.5 for `gemini-2.5-flash`. A name without a number, such as
   * `gemini-flash-latest`, is taken for the newest.
   */
  readonly generation: number;
  readonly isPro: boolean;
}

const NEWEST = Number.POSITIVE_INFINITY;
const NAME = /(?:^|\/)gemini-(?:(\d+(?:\.\d+)?)(?:-|$))?/;

/** Returns undefined for a model that is no Gemini, such as a Gemma. */
function geminiOf(providerModel: string): Gemini | undefined {
  const found = NAME.exec(providerModel);
  if (found === null) return undefined;
  const [, number] = found;
  return { generation: number === undefined ? NEWEST : Number(number), isPro: /-pro(?:-|$)/.test(providerModel) };
}

type ThinkingConfig =
  | { readonly thinkingBudget: number }
  | { readonly thinkingLevel: 'minimal' | 'low' | 'medium' | 'high' };

/** The budgets of Google's own table for the compatible format (https://ai.google.dev/gemini-api/docs/openai). */
const BUDGETS: Readonly<Record<string, number>> = { none: 0, minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576 };
const LEVELS = ['minimal', 'low', 'medium', 'high'] as const;

/** The thinking that a `reasoning_effort` asks for. Undefined if the model has nothing like it. */
export function thinkingOf(providerModel: string, effort: string): ThinkingConfig | undefined {
  const gemini = geminiOf(providerModel);
  if (gemini === undefined || gemini.generation < 2.5) return undefined;
  if (gemini.generation < 3) {
    const thinkingBudget = BUDGETS[effort];
    // The Pro model thinks always.
    return thinkingBudget === undefined || (thinkingBudget === 0 && gemini.isPro) ? undefined : { thinkingBudget };
  }
  const thinkingLevel = LEVELS.find((level) => level === effort);
  if (thinkingLevel === undefined) return undefined;
  return { thinkingLevel: thinkingLevel === 'minimal' && !hasMinimal(gemini) ? 'low' : thinkingLevel };
}

/** The Flash models before 3.7. Google takes "minimal" for "low" at the others. */
function hasMinimal({ generation, isPro }: Gemini): boolean {
  return !isPro && generation < 3.7;
}

/** The efforts that a model takes, for the advice to a caller. */
export function effortsOf(providerModel: string): readonly string[] {
  const all = ['none', ...LEVELS];
  return all.filter((effort) => thinkingOf(providerModel, effort) !== undefined);
}

/** Returns true for the newer models. Only they sign their function calls and want the signatures back. */
export function signsCalls(providerModel: string): boolean {
  return (geminiOf(providerModel)?.generation ?? 0) >= 3;
}

/** The Gemini API refuses `presence_penalty` and `frequency_penalty` for these. Vertex takes them. */
export function refusesPenalties(providerModel: string): boolean {
  return geminiOf(providerModel)?.generation === 2.5;
}

import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { JsonObject } from '#kernel/text/json.ts';
import type { ProviderCall } from '#providers/port/provider.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';
import { toPrompt } from '#providers/translated/to-prompt.ts';
import { toTools } from '#providers/translated/to-tools.ts';

interface TranslatedCall {
  readonly options: LanguageModelV4CallOptions;
  readonly answerTool: string | undefined;
}

/** The V4 options of a call. Its request was checked, so that all of it has a place in them (MO-09). */
export function toOptions(dialect: Dialect, call: ProviderCall, abortSignal: AbortSignal): TranslatedCall {
  const { request, outputTokens } = call;
  const { answerTool, ...settings } = dialect.settingsOf(call);
  const options: LanguageModelV4CallOptions = {
    prompt: toPrompt(dialect, request['messages'] as readonly JsonObject[]),
    maxOutputTokens: outputTokens,
    ...toTools(dialect, request),
    ...settings,
    abortSignal,
  };
  return { options, answerTool };
}

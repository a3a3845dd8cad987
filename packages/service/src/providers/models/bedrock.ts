import { claudeOf } from '#providers/models/claude.ts';

/** What models take at Bedrock, beside what `claude.ts` says of Claude. `@ai-sdk/amazon-bedrock` has the same lists. */

const WITHOUT_STRICT = ['claude-opus-4-7', 'claude-opus-4-8', 'claude-opus-5', 'claude-fable-5', 'claude-sonnet-5'];
const WITHOUT_SCHEMA = [...WITHOUT_STRICT, 'claude-sonnet-4-6', 'claude-haiku-4-5'];

/**
 * Returns false for models whose strict tools Bedrock refuses. It checks requests by its own copy of Anthropic's
 * schema, which lacks strict tools for the newest models.
 */
export function takesStrict(providerModel: string): boolean {
  return !WITHOUT_STRICT.some((name) => providerModel.includes(name));
}

/** How a model is given a JSON schema for its answer: by a field, by a tool that it must call, or not at all. */
export function schemaWayOf(providerModel: string): 'field' | 'tool' | undefined {
  const claude = claudeOf(providerModel);
  if (claude?.hasSchema === true && !WITHOUT_SCHEMA.some((name) => providerModel.includes(name))) return 'field';
  return claude?.takesForcedTools === false ? undefined : 'tool';
}

/** Models of OpenAI behind Converse. */
export function isOpenAi(providerModel: string): boolean {
  return /^(?:[^.]+\.)?openai\./.test(providerModel);
}

export function isOpenWeightOpenAi(providerModel: string): boolean {
  return isOpenAi(providerModel) && providerModel.includes('openai.gpt-oss-');
}

/**
 * Returns true for Amazon's own model that takes an effort. With "high" it takes no output limit, and a call without
 * one has no price.
 */
export function isNovaReasoning(providerModel: string): boolean {
  return providerModel.includes('amazon.nova-2-lite-v1:0');
}

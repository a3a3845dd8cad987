import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Dialect, SealFields } from '#providers/dialect/dialect.ts';

/**
 * Reasoning that a vendor wants back unchanged in the next turn, as items of `reasoning_details`. `index` is the place of the block
 * in the answer, so that it goes back to its place between texts and tool calls.
 */

/** An item with more text, with its seal, or with both. */
export function reasoningItem(
  { reasoning }: Dialect,
  index: number,
  text: string,
  metadata: SharedV4ProviderMetadata | undefined,
): JsonObject | undefined {
  const seal = metadata === undefined ? undefined : reasoning.fieldsOf(metadata);
  if (text === '' && seal === undefined) return undefined;
  const { format } = reasoning;
  if (seal?.data !== undefined) return { type: 'reasoning.encrypted', index, format, data: seal.data };
  return { type: 'reasoning.text', index, format, ...(text === '' ? {} : { text }), ...seal };
}

/** A block of reasoning as a caller sends it back. */
interface ReasoningBlock {
  readonly index: number | undefined;
  readonly text: string;
  readonly seal: SealFields;
}

/**
 * The sealed blocks in `reasoning_details` of an assistant's message. Items of one index are one block: clients either join the
 * pieces of a stream or keep them all. Blocks without a seal are left out, because no vendor takes them back.
 */
export function reasoningBlocks(dialect: Dialect, details: unknown): readonly ReasoningBlock[] {
  if (!Array.isArray(details)) return [];
  const blocks: { index: number | undefined; text: string; seal: SealFields }[] = [];
  for (const item of details.filter(isJsonObject)) {
    const { format } = item;
    if (typeof format === 'string' && format !== dialect.reasoning.format) continue;
    const index = typeof item['index'] === 'number' ? item['index'] : undefined;
    const before = blocks.at(-1);
    const isMore = before !== undefined && index !== undefined && before.index === index;
    const block = isMore ? before : { index, text: '', seal: {} };
    if (!isMore) blocks.push(block);
    const { text, signature, data } = item;
    if (typeof text === 'string') block.text += text;
    block.seal = {
      ...block.seal,
      ...(typeof signature === 'string' ? { signature } : {}),
      ...(typeof data === 'string' ? { data } : {}),
    };
  }
  return blocks.filter(({ seal }) => seal.signature !== undefined || seal.data !== undefined);
}

import type {
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4Source,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { JsonObject } from '#kernel/text/json.ts';
import type { FinishReason } from '#providers/port/completion.ts';
import { meaningOfReason } from '#providers/answers/finish-reasons.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';

const UNIFIED: Readonly<Partial<Record<LanguageModelV4FinishReason['unified'], FinishReason>>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
};

/**
 * The reason to finish. A failure is thrown, and never becomes `stop` (CC-11): a stream without any reason was cut, and an error
 * is one. `hasCalls`: the caller gets tool calls. Without any, as after the tool that stands for the JSON schema, the answer is over.
 */
export function finishReasonOf(
  dialect: Dialect,
  { unified, raw }: LanguageModelV4FinishReason,
  hasCalls: boolean,
): FinishReason {
  const meaning = raw === undefined ? undefined : meaningOfReason(raw);
  if (meaning === 'failed') throw broken();
  if (meaning === 'length' || meaning === 'content_filter') return meaning;
  const known = UNIFIED[unified];
  if (known === 'tool_calls' && !hasCalls) return 'stop';
  if (known !== undefined) return known;
  // The vendor's word in other letters, which its library does not know.
  if (unified === 'other' && meaning !== undefined) return hasCalls ? 'tool_calls' : 'stop';
  const reason = unified === 'other' && raw !== undefined ? dialect.finishReasonOf(raw) : undefined;
  if (reason === undefined) throw broken();
  return reason;
}

function broken(): UpstreamError {
  return new UpstreamError('cut', 'The provider broke off its response.');
}

/**
 * The stop sequence that ended an answer, where servers of the compatible format name it. Callers of chat completions do not see it.
 */
export function stopSequenceOf(metadata: SharedV4ProviderMetadata | undefined): JsonObject {
  const sequences = Object.values(metadata ?? {}).map(({ stopSequence }) => stopSequence);
  const named = sequences.find((sequence) => typeof sequence === 'string');
  return named === undefined ? {} : { stop_reason: named };
}

/** The arguments of a call as libraries give them: one without any may have none. */
export function argumentsOf(input: string | undefined): string {
  return input === undefined || input.trim() === '' ? '{}' : input;
}

/** A source of an answer as an annotation; undefined for one that has no address. */
export function annotationOf(source: LanguageModelV4Source): JsonObject | undefined {
  if (source.sourceType !== 'url') return undefined;
  const { url, title } = source;
  return { type: 'url_citation', url_citation: { url, ...(title === undefined ? {} : { title }) } };
}

/** A picture of an answer, where clients of the compatible format look for it. Files of other types were not asked for. */
export function imageOf({ mediaType, data }: LanguageModelV4File): JsonObject {
  if (!mediaType.startsWith('image/')) throw unknownPart();
  return { type: 'image_url', image_url: { url: data.type === 'url' ? data.url.href : dataUrl(mediaType, data.data) } };
}

function dataUrl(mediaType: string, data: string | Uint8Array): string {
  return `data:${mediaType};base64,${typeof data === 'string' ? data : Buffer.from(data).toString('base64')}`;
}

/** What the head of an answer says of its origin: nothing but its id and its second. */
export function headOf({ id, timestamp }: { id?: string | undefined; timestamp?: Date | undefined }): JsonObject {
  return {
    ...(id === undefined ? {} : { id }),
    ...(timestamp === undefined ? {} : { created: Math.floor(timestamp.getTime() / 1_000) }),
  };
}

/** Files and tools that run at the vendor were not asked for. To leave them out would hide what was billed. */
export function unknownPart(): UpstreamError {
  return new UpstreamError('malformed', 'The provider sent a part that no answer of a chat model has.');
}

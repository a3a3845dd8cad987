import type {
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Text,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';

/**
 * Gemini signs texts too, and answers better if the signature comes back. The compatible format has a place for signatures of reasoning
 * alone, so the signature of a text is shown as reasoning without text behind it. `fit-prompt.ts` gives it back to its text.
 */

/** The signature of a part. The library names it by the vendor: `google` or, on Vertex, `googleVertex`. */
export function signatureIn(metadata: SharedV4ProviderMetadata | undefined): string | undefined {
  const signature = (metadata?.['google'] ?? metadata?.['googleVertex'])?.['thoughtSignature'];
  return typeof signature === 'string' ? signature : undefined;
}

/** A whole answer, with the signature of each text behind it. */
export function withTextSignatures(content: readonly LanguageModelV4Content[]): LanguageModelV4Content[] {
  return content.flatMap((part) => {
    const isSigned = part.type === 'text' && signatureIn(part.providerMetadata) !== undefined;
    return isSigned ? [part, { type: 'reasoning', text: '', ...metadataOf(part) }] : [part];
  });
}

function metadataOf({ providerMetadata }: LanguageModelV4Text) {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

/**
 * A stream with the signature of each text behind it, and that of each tool call once: the library repeats it with every part of a
 * call, and some clients would join what they get twice.
 */
export function signatureStream(): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  const shown = new Set<string>();
  let count = 0;
  return new TransformStream({
    transform(part, controller) {
      if (part.type === 'tool-input-start' && signatureIn(part.providerMetadata) !== undefined) shown.add(part.id);
      if (part.type === 'tool-call' && shown.has(part.toolCallId)) {
        const { providerMetadata: _, ...call } = part;
        controller.enqueue(call);
        return;
      }
      controller.enqueue(part);
      if (part.type !== 'text-delta' || signatureIn(part.providerMetadata) === undefined) return;
      const { providerMetadata } = part;
      const id = `signature-${(count += 1)}`;
      controller.enqueue({ type: 'reasoning-start', id, ...(providerMetadata && { providerMetadata }) });
      controller.enqueue({ type: 'reasoning-end', id });
    },
  });
}

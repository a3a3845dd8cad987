import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Unsupported } from '#providers/capabilities/rules.ts';
import { inputsIn } from '#providers/embeddings/inputs.ts';
import { PARTS_MAX } from '#providers/embeddings/in-parts.ts';
import { type TextKind, vectorModelOf } from '#providers/models/embeddings.ts';

const TEXT_KINDS: ReadonlySet<string> = new Set<TextKind>(['mistral', 'google', 'vertex', 'bedrock']);

function isOfTexts(kind: CatalogueProvider['kind']): kind is TextKind {
  return TEXT_KINDS.has(kind);
}

/** The first part of a caller's request for vectors that this upstream cannot be sent. */
export function findUnembeddable(
  { provider: { kind }, providerModel }: { readonly provider: CatalogueProvider; readonly providerModel: string },
  { input, dimensions }: JsonObject,
): Unsupported | undefined {
  if (!isOfTexts(kind)) return undefined; // OpenAI's own format.
  const { textsMax, dimensions: sizes } = vectorModelOf(kind, providerModel);
  if (hasTokens(input)) {
    return { path: 'input', advice: 'Send texts: its provider takes no tokens by their numbers.' };
  }
  const most = textsMax * PARTS_MAX;
  if (inputsIn(input) > most) {
    return { path: 'input', advice: `Send at most ${most} texts in a call: its provider takes ${textsMax} at a time.` };
  }
  if (typeof dimensions !== 'number' || sizes === undefined || sizes.includes(dimensions)) return undefined;
  const advice =
    sizes.length === 0
      ? 'Leave it out: all vectors of this model have one size.'
      : `Its vectors have ${sizes.join(', ')} numbers.`;
  return { path: 'dimensions', advice };
}

function hasTokens(input: unknown): boolean {
  const [first]: readonly unknown[] = Array.isArray(input) ? input : [];
  return typeof first === 'number' || Array.isArray(first);
}

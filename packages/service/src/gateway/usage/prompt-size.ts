import type { Model } from '#catalogue/catalogue.ts';
import type { PromptSize } from '#gateway/call/call.ts';

/** English prose runs to about four bytes a token, code and other scripts to fewer: close enough for an estimate. */
const BYTES_PER_TOKEN = 4;

export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Sizes the prompt of a body of `bodyBytes` bytes. Images count by the model's figure, not by their bytes. */
export function sizePrompt(model: Model, { images, dataUrlBytes }: ImageSize, bodyBytes: number): PromptSize {
  const textBytes = bodyBytes - dataUrlBytes;
  const imageTokens = images * (model.imageTokensMax ?? 0);
  return {
    tokensMax: textBytes + imageTokens + model.promptOverheadTokens,
    tokensEstimated: estimateTokens(textBytes) + imageTokens,
  };
}

interface ImageSize {
  readonly images: number;
  /** Of the images that came as data URLs. */
  readonly dataUrlBytes: number;
}

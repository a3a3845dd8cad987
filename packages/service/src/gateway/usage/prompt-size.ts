import type { Model } from '#catalogue/catalogue.ts';
import type { PromptSize } from '#gateway/call/call.ts';

/** English prose has about four bytes a token, code and other scripts fewer. That is close enough for an estimate. */
const BYTES_PER_TOKEN = 4;

export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Sizes the prompt of a body. Images count by the model's figure and not by their bytes, which say nothing of their tokens. */
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

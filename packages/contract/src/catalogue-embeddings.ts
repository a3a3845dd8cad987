import { apisOf, isOfEmbeddings } from './apis.ts';
import { type CatalogueModel, upstreamsOf } from './catalogue-models.ts';
import type { CatalogueProvider } from './catalogue-providers.ts';

type Complain = (path: readonly (string | number)[], message: string) => void;

/** Checks what makes a model one of embeddings: all of its upstreams, the size of its vectors, and that no output has a price. */
export function checkEmbeddings(
  providers: Readonly<Record<string, CatalogueProvider>>,
  model: CatalogueModel,
  complain: Complain,
): void {
  const upstreams = upstreamsOf(model);
  const makers = upstreams.filter((one) => {
    const provider = Object.hasOwn(providers, one.provider) ? providers[one.provider] : undefined;
    return isOfEmbeddings(apisOf(provider ?? {}, model, one));
  });
  if (makers.length === 0) {
    if (model.dimensionsMax !== undefined) {
      complain(['dimensionsMax'], 'is only for models of embeddings, whose `apis` are `["embeddings"]`');
    }
    return;
  }
  if (makers.length < upstreams.length) complain(['apis'], 'must be `["embeddings"]` for all upstreams, or for none');
  if (model.dimensionsMax === undefined) {
    complain(
      ['dimensionsMax'],
      'is required for a model of embeddings: without it, nothing bounds the size of an answer',
    );
  }
  checkOutputIsFree(model, complain);
}

/** Embeddings have no output tokens, and a hold would set money aside for some. */
function checkOutputIsFree(model: CatalogueModel, complain: Complain): void {
  const message = 'must be 0 for a model of embeddings: it has no output';
  const sheets = [
    { path: [], sheet: model },
    ...(model.upstreams ?? []).map((sheet, place) => ({ path: ['upstreams', place], sheet })),
  ];
  for (const { path, sheet } of sheets) {
    if ((sheet.price?.outputMicrosPerMillion ?? 0) > 0) complain([...path, 'price', 'outputMicrosPerMillion'], message);
    for (const [place, { price }] of (sheet.priceChanges ?? []).entries()) {
      if (price.outputMicrosPerMillion > 0)
        complain([...path, 'priceChanges', place, 'price', 'outputMicrosPerMillion'], message);
    }
  }
}

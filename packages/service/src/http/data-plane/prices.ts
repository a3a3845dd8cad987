import { type Offer, offersTo, type ShownPrice } from '#catalogue/shown-price.ts';
import { admitBare, type DataPlane } from '#http/data-plane/data-plane.ts';
import { type Exchange, sendJson, sendRefusal } from '#http/answers/respond.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

/**
 * `GET /prices` returns what the models that this app may call cost now, and their limits. The model list has neither
 * (MO-01).
 */
export async function handlePriceList(plane: DataPlane, exchange: Exchange): Promise<void> {
  const caller = await admitBare(plane, exchange);
  if (caller instanceof Refusal) return sendRefusal(exchange, caller);
  const data = offersTo(caller.app, plane.gateway.catalogue).map(offerToWire);
  sendJson(exchange.response, 200, { currency: plane.currency, data });
}

function offerToWire({ name, model, prices }: Offer) {
  const { contextTokens, maxOutputTokens, defaultOutputTokens, parameters } = model;
  return {
    id: name,
    model: model.id,
    contextTokens,
    maxOutputTokens,
    defaultOutputTokens,
    parameters: parameters === undefined ? null : [...parameters].toSorted(),
    prices: prices.map(priceToWire),
  };
}

function priceToWire({ tiers, microsPerCall, microsPerSearch }: ShownPrice) {
  return {
    tiers: tiers.map((tier) => ({
      aboveInputTokens: tier.aboveInputTokens,
      inputMicrosPerMillion: microsToWire(tier.input),
      cachedInputMicrosPerMillion: microsToWire(tier.cachedInput),
      cacheWriteMicrosPerMillion: microsToWire(tier.cacheWrite),
      cacheWriteLongMicrosPerMillion: microsToWire(tier.cacheWriteLong),
      audioInputMicrosPerMillion: microsToWire(tier.audioInput),
      imageInputMicrosPerMillion: microsToWire(tier.imageInput),
      outputMicrosPerMillion: microsToWire(tier.output),
      reasoningMicrosPerMillion: microsToWire(tier.reasoning),
      audioOutputMicrosPerMillion: microsToWire(tier.audioOutput),
      imageOutputMicrosPerMillion: microsToWire(tier.imageOutput),
    })),
    microsPerCall: microsToWire(microsPerCall),
    microsPerSearch: microsToWire(microsPerSearch),
  };
}

import type { Model } from '#catalogue/catalogue.ts';
import type { ModelSupport, Wire } from '#gateway/call/wire.ts';
import { acceptedBy } from '#gateway/parameters/parameters.ts';
import { findUnsupported, speaks } from '#providers/capabilities/capabilities.ts';

/** What each model takes. It is asked for each call, and changes only with the catalogue, whose models are new objects then. */
const supportOfModels = new WeakMap<Model, Map<Wire['name'], ModelSupport>>();

/** What a model takes, for a wire that leaves out what it cannot do: the same object for each call of this model by the wire. */
export function supportOf(model: Model, wire: Wire['name']): ModelSupport {
  const known = supportOfModels.get(model) ?? new Map<Wire['name'], ModelSupport>();
  const supports = known.get(wire) ?? foundSupport(model, wire);
  supportOfModels.set(model, known.set(wire, supports));
  return supports;
}

function foundSupport(model: Model, wire: Wire['name']): ModelSupport {
  const { parameters, upstreams, contextTokens, dimensionsMax } = model;
  const accepted = acceptedBy(parameters);
  const ownForm = upstreams.every((upstream) => speaks(upstream, wire));
  const searchesMax = Math.min(...upstreams.map(({ price }) => Number(price.special?.searchesMax ?? 0n)));
  return {
    parameter: (name, value) =>
      accepted.has(name) &&
      (value === undefined ||
        upstreams.some((upstream) => findUnsupported(upstream, { [name]: value }, wire) === undefined)),
    ownForm,
    hasOwnForm: ownForm || upstreams.some((upstream) => speaks(upstream, wire)),
    webSearch: ownForm && searchesMax > 0,
    searchesMax,
    contextTokens,
    dimensionsMax,
  };
}

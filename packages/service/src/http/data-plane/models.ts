import { type Catalogue, isAmong, isEntitled, type Model, notEntitled, notOfKey } from '#catalogue/catalogue.ts';
import { admitBare, type DataPlane } from '#http/data-plane/data-plane.ts';
import { type Exchange, sendJson, sendRefusal } from '#http/answers/respond.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';

/**
 * `GET /v1/models` returns the models and aliases that this app may call with this key, with four fields each and no
 * more (MO-01).
 */
export async function handleModelList(plane: DataPlane, exchange: Exchange): Promise<void> {
  const caller = await admitBare(plane, exchange);
  if (caller instanceof Refusal) return sendRefusal(exchange, caller);
  const { catalogue } = plane.gateway;
  const { models } = caller.key;
  const callable = catalogue
    .list()
    .filter(({ model }) => isEntitled(caller.app, model) && (models === null || isAmong(catalogue, models, model)));
  sendJson(exchange.response, 200, { object: 'list', data: callable.map(({ name, model }) => toWire(name, model)) });
}

/**
 * `GET /v1/models/{model}` returns one model (MO-03). A model that exists but is not served here is a 404, like one
 * that does not exist.
 */
export async function handleModel(plane: DataPlane, exchange: Exchange, name: string): Promise<void> {
  const caller = await admitBare(plane, exchange);
  if (caller instanceof Refusal) return sendRefusal(exchange, caller);
  const model = findServed(plane.gateway.catalogue, name);
  if (model === undefined) {
    return sendRefusal(exchange, refuse('NOT_FOUND', 'There is no model or alias with this name.'));
  }
  if (!isEntitled(caller.app, model)) return sendRefusal(exchange, notEntitled(name));
  const { models } = caller.key;
  if (models !== null && !isAmong(plane.gateway.catalogue, models, model)) {
    return sendRefusal(exchange, notOfKey(name, models));
  }
  sendJson(exchange.response, 200, toWire(name, model));
}

/** The model of a name, if this service has a provider for it and it is enabled. */
function findServed(catalogue: Catalogue, name: string): Model | undefined {
  const model = catalogue.find(name);
  return model?.isServed === true ? model : undefined;
}

/** `owned_by` is the part of the identifier before its first dot. An alias reports that of its target (MO-02). */
function toWire(name: string, model: Model) {
  return { id: name, object: 'model', created: 0, owned_by: model.id.slice(0, model.id.indexOf('.')) };
}

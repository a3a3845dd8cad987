import {
  catalogueHeadersSchema,
  providerParamsSchema,
  providerSchema,
  providerTestedSchema,
  reasonQuerySchema,
  testProviderSchema,
} from '@purser/contract/operator.ts';
import { z } from 'zod';
import { versioned, versionIn } from '#http/operator-plane/catalogue/catalogue.ts';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import type { ProviderTested } from '#operator/catalogue/provider-test.ts';

const EDIT = { querystring: reasonQuerySchema, headers: catalogueHeadersSchema, params: providerParamsSchema };

/** Routes for single providers of the catalogue (CP-05, MO-11). A name may contain a slash, so callers send it percent-encoded. */
export function addProviderRoutes(plane: Plane, operator: OperatorPlane): void {
  const { catalogue, providerTest } = operator;
  plane.put(
    '/operator/providers/:name',
    { schema: { ...EDIT, body: providerSchema, response: { 200: providerSchema } } },
    async (request, reply) => {
      const act = actOf(operator, request, request.query.reason);
      const { name } = request.params;
      const edited = granted(await catalogue.putProvider(act, name, request.body, versionIn(request.headers)));
      versioned(reply, edited.version);
      return edited.result;
    },
  );

  plane.delete(
    '/operator/providers/:name',
    { schema: { ...EDIT, response: { 204: z.null() } } },
    async (request, reply) => {
      const act = actOf(operator, request, request.query.reason);
      const edited = granted(
        await catalogue.change(
          act,
          { kind: 'provider', name: request.params.name, entry: undefined },
          versionIn(request.headers),
        ),
      );
      versioned(reply, edited.version);
      return reply.code(204).send(null);
    },
  );

  plane.post(
    '/operator/providers/:name/test',
    { schema: { params: providerParamsSchema, body: testProviderSchema, response: { 200: providerTestedSchema } } },
    async (request) => {
      const { providerModel, reason } = request.body;
      const act = actOf(operator, request, reason);
      return toWire(granted(await providerTest.test(act, request.params.name, providerModel)));
    },
  );
}

function toWire({ words, usage, cost, ...tested }: ProviderTested) {
  return {
    ...tested,
    message: words,
    origin: tested.origin ?? null,
    status: tested.status ?? null,
    firstByteMs: tested.firstByteMs ?? null,
    promptTokens: usage?.prompt ?? null,
    completionTokens: usage?.completion ?? null,
    costMicros: cost === undefined ? null : microsToWire(cost),
  };
}

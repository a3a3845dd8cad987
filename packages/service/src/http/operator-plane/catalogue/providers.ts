import { providerParamsSchema, providerTestedSchema, testProviderSchema } from '@purser/contract/operator.ts';
import { upstreamListSchema } from '@purser/contract/upstreams.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';

/** The route that tests a provider of the catalogue with one call (CP-05). */
export function addProviderRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  routes.act(
    'POST /operator/providers/:name/test',
    { params: providerParamsSchema, body: testProviderSchema, answer: providerTestedSchema },
    async (act, { params, body }) => {
      const tested = granted(await operator.providerTest.test(act, params.name, body.providerModel));
      const { words, usage } = tested;
      return { ...tested, message: words, promptTokens: usage?.prompt, completionTokens: usage?.completion };
    },
  );
}

/** The route by which operators see how their providers serve (CC-16). */
export function addUpstreamRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  routes.show('/operator/upstreams', { answer: upstreamListSchema }, async () => ({
    upstreams: operator.readUpstreams(),
  }));
}

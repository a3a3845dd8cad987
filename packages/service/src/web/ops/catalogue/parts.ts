import type { CatalogueModel } from '@purser/contract/catalogue.ts';
import { type CatalogueProvider, credentialOf, keyNamesOf, originOf } from '@purser/contract/catalogue-providers.ts';
import { termsOf } from '#catalogue/price.ts';
import { costPriceOf, priceInForce } from '#catalogue/price-effect.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import type { Html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { badge } from '#web/components/parts.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { soft } from '#web/ops/frame/details.ts';
import { CATALOGUE_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/** How one upstream serves, as this process sees it. */
export type UpstreamReport = ReturnType<OperatorPlane['readUpstreams']>[number];

/** The price of an upstream in force, for a table: what the provider asks for input and output, and the margin on top. */
export function priceCells(
  { clock, amount }: OpsRequest,
  model: CatalogueModel,
  upstream: { readonly provider: string; readonly providerModel: string },
): readonly [input: string, output: string, margin: string] {
  const cost = costPriceOf(model, upstream, clock.nowMs());
  const price = priceInForce(model, upstream, clock.nowMs());
  if (cost === undefined || price === undefined) return ['', '', ''];
  const { tiers, microsPerCall } = termsOf(cost);
  const perCall = (micros: bigint) => (micros === 0n ? '' : TEXTS.and + TEXTS.aCall(amount(micros)));
  const share = TEXTS.basisPoints(Number(price.marginBasisPoints));
  return [
    amount(tiers[0].input) + perCall(microsPerCall),
    amount(tiers[0].output),
    share + perCall(termsOf(price).marginMicrosPerCall),
  ];
}

/** How an upstream, or the worst upstream of a provider, serves. */
export function healthBadge(reports: readonly Pick<UpstreamReport, 'state'>[]): Html {
  const { health } = TEXTS;
  if (reports.length === 0) return soft(health.unused);
  const worst = (['open', 'testing'] as const).find((state) => reports.some((one) => one.state === state));
  return worst === undefined ? badge(health.closed, 'good') : badge(health[worst], 'warn');
}

/** What keeps apps from calling a model, if anything does. */
export function stateBadge({ catalogue }: OpsRequest, { id, enabled, resale }: CatalogueModel): Html | undefined {
  if (!enabled) return badge(TEXTS.states.off, 'warn');
  if (catalogue.find(id)?.isServed !== true) return badge(TEXTS.states['no-key'], 'warn');
  return resale === 'reserved' ? badge(TEXTS.states.reserved, 'good') : undefined;
}

/** How a provider's key is named. It is never shown, and the catalogue does not have it. */
export function keyWords(provider: CatalogueProvider): string {
  const names = keyNamesOf(provider).map(({ name }) => name);
  if (names.length > 0) return names.join(', ');
  return credentialOf(provider)?.value ?? 'none';
}

/** Where a provider's calls go. */
export function originWords(provider: CatalogueProvider): string {
  return originOf(provider) ?? TEXTS.simulator;
}

/** A time as the catalogue writes it. Undefined for none. */
export function momentIn(text: string): string | undefined | Refusal<'BAD_REQUEST'> {
  if (text === '') return undefined;
  const [, day, time = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})Z?)?$/.exec(text) ?? [];
  const moment = `${day}T${time}:00Z`;
  const isMoment = day !== undefined && !Number.isNaN(epochMsOf(moment));
  return isMoment ? moment : refuse('BAD_REQUEST', 'The time must look like 2026-12-01 00:00.');
}

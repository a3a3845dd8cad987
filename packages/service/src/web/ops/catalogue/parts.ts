import type { CatalogueModel } from '@purser/contract/catalogue.ts';
import { type CatalogueProvider, credentialOf, keyNamesOf, originOf } from '@purser/contract/catalogue-providers.ts';
import { termsOf } from '#catalogue/price.ts';
import { costPriceOf, priceInForce } from '#catalogue/price-effect.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { badge } from '#web/components/badge.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS as TEXTS, MODEL_TEXTS, PRICE_TEXTS } from '#web/ops/catalogue/texts.ts';
import { hiddenField } from '#web/fields/form.ts';
import { textField } from '#web/fields/text-field.ts';
import type { Form } from '#web/forms/read-form.ts';
import type { Act } from '#operator/acts/act.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';

/** An amount as the reader's language writes it, exact to the micro. */
export function amountIn({ request }: OpsRequest, { currency }: OpsCatalogueServices): (amount: bigint) => string {
  return (amount) => request.formats.amount(micros(amount), currency);
}

/** How one upstream serves, as this process sees it. */
export type UpstreamReport = ReturnType<OperatorPlane['readUpstreams']>[number];

interface PriceCells {
  readonly input: string;
  readonly output: string;
  readonly margin: string;
}

/** The price of an upstream in force, for a table: what the provider asks, and the margin on top. */
export function priceCells(
  model: CatalogueModel,
  upstream: { readonly provider: string; readonly providerModel: string },
  nowMs: number,
  amount: (micros: Micros) => string,
): PriceCells {
  const cost = costPriceOf(model, upstream, nowMs);
  const price = priceInForce(model, upstream, nowMs);
  if (cost === undefined || price === undefined) return { input: '', output: '', margin: '' };
  const [tier] = termsOf(cost).tiers;
  const perCall = termsOf(price).marginMicrosPerCall;
  const fee = termsOf(cost).microsPerCall;
  const share = TEXTS.basisPoints(Number(price.marginBasisPoints));
  return {
    input: amount(micros(tier.input)) + (fee === 0n ? '' : TEXTS.and + TEXTS.aCall(amount(micros(fee)))),
    output: amount(micros(tier.output)),
    margin: perCall === 0n ? share : share + TEXTS.and + TEXTS.aCall(amount(micros(perCall))),
  };
}

/** How an upstream, or the worst upstream of a provider, serves. */
export function healthBadge(reports: readonly Pick<UpstreamReport, 'state'>[]): Html {
  const { health } = TEXTS;
  if (reports.length === 0) return html`<span class="soft">${health.unused}</span>`;
  const worst = (['open', 'testing'] as const).find((state) => reports.some((one) => one.state === state));
  return worst === undefined ? badge(health.closed, 'good') : badge(health[worst], 'warn');
}

/** How a provider's key is named. It is never shown, and the catalogue does not have it. */
export function keyWords(provider: CatalogueProvider): string {
  const names = keyNamesOf(provider).map(({ name }) => name);
  if (names.length > 0) return names.join(', ');
  return credentialOf(provider)?.value ?? TEXTS.noKeyNeeded;
}

/** Where a provider's calls go. */
export function originWords(provider: CatalogueProvider): string {
  return originOf(provider) ?? TEXTS.simulator;
}

/**
 * What the form of an act has besides: the version that the page shows, and the field for the reason. `of` tells it from that of
 * other forms on the page.
 */
export function actFields(version: bigint, { typed = '', of = '' } = {}): Html {
  const field = textField({
    name: `reason${of}`,
    label: MODEL_TEXTS.reason,
    hint: MODEL_TEXTS.reasonHint,
    value: typed,
    lengthMax: REASON_LENGTH_MAX,
    isRequired: true,
  });
  return html`${hiddenField('version', version.toString())}${hiddenField('of', of)}\n${field}`;
}

/** Who acts, why, and the version of the catalogue that they saw. */
interface FormAct {
  readonly act: Act;
  readonly version: bigint;
}

const REASON_LENGTH_MAX = 500;

/** What every form of an act has. Refused without a reason, which the audit trail needs. */
export function actIn(asked: OpsRequest, form: Form): FormAct | Refusal<'BAD_REQUEST'> {
  const reason = form.field(`reason${form.field('of')}`).trim();
  if (reason === '' || reason.length > REASON_LENGTH_MAX) return refuse('BAD_REQUEST', MODEL_TEXTS.reasonMissing);
  const version = form.field('version');
  // A form without a version is one that no page of ours made: none is as old as zero.
  return { act: asked.act(reason), version: /^\d{1,18}$/.test(version) ? BigInt(version) : 0n };
}

/** A time as the catalogue writes it. Undefined for none. */
export function momentIn(text: string): string | undefined | Refusal<'BAD_REQUEST'> {
  if (text === '') return undefined;
  const [, day, time = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})Z?)?$/.exec(text) ?? [];
  const moment = `${day}T${time}:00Z`;
  const isMoment = day !== undefined && !Number.isNaN(epochMsOf(moment));
  return isMoment ? moment : refuse('BAD_REQUEST', PRICE_TEXTS.notMoment);
}

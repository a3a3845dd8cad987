import { type Html, html } from '#kernel/text/html.ts';
import type { ProviderTested } from '#operator/catalogue/provider-test.ts';
import { badge } from '#web/components/badge.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { section } from '#web/components/section.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS, PROVIDER_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/** What a call of one token has shown. It has no text of the provider, and nothing of the key. */
export function testedPart(
  { currency }: OpsCatalogueServices,
  { request: { formats } }: OpsRequest,
  tested: ProviderTested,
): Html {
  const { outcome, words, status, firstByteMs, totalMs, usage, cost, origin, providerModel } = tested;
  const isGood = outcome === 'answered';
  const counted =
    usage?.prompt === undefined || usage.completion === undefined
      ? TEXTS.noUsage
      : TEXTS.usageOf(formats.count(usage.prompt), formats.count(usage.completion));
  return section({
    id: 'tested',
    heading: TEXTS.tested,
    body: [
      html`<p role="status">${badge(isGood ? TEXTS.answered : outcome, isGood ? 'good' : 'warn')} ${words}</p>`,
      outcome === 'rejected' && status !== 404 ? html`<p class="soft">${TEXTS.rejectedHint}</p>` : undefined,
      definitionList([
        [TEXTS.sentTo, outcome === 'no-key' ? TEXTS.nowhere : (origin ?? CATALOGUE_TEXTS.simulator)],
        [TEXTS.model, providerModel],
        status === undefined ? undefined : [TEXTS.status, status],
        firstByteMs === undefined ? undefined : [TEXTS.firstByte, TEXTS.ms(firstByteMs)],
        outcome === 'no-key' ? undefined : [TEXTS.total, TEXTS.ms(totalMs)],
        isGood ? [TEXTS.usage, counted] : undefined,
        cost === undefined ? undefined : [TEXTS.cost, formats.amount(cost, currency)],
      ]),
    ],
  });
}

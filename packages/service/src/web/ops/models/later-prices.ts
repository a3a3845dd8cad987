import type { CatalogueModel } from '@purser/contract/catalogue.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import { fold } from '#web/components/fold.ts';
import { hiddenField } from '#web/fields/form.ts';
import { list } from '#web/components/list.ts';
import { section } from '#web/components/section.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { actFields } from '#web/ops/catalogue/parts.ts';
import { MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/** A price that is set for later, and the entry without it. */
interface LaterPrice {
  readonly fromMs: number;
  /** The upstream whose price it is. It is undefined for the price of every upstream without a price of its own. */
  readonly upstream: string | undefined;
  readonly without: object;
}

/** The prices that are set for later. Taking one back is a change of the entry, so the next page shows what it does first. */
export function laterPricesPart(
  asked: OpsRequest,
  { model, version, nowMs }: { readonly model: CatalogueModel; readonly version: bigint; readonly nowMs: number },
): Html | undefined {
  const prices = laterPricesOf(model, nowMs);
  if (prices.length === 0) return undefined;
  const query = `id=${encodeURIComponent(model.id)}`;
  const items = prices.map(({ fromMs, upstream, without }, at) => {
    const words = TEXTS.laterFrom(asked.request.formats.moment(fromMs), upstream);
    if (!asked.may('model-edit')) return words;
    const fields = html`${hiddenField('entry', JSON.stringify(without, undefined, 2))}
${actFields(version, { of: `-later-${at}` })}
${button(TEXTS.takeBackShow)}`;
    return html`${words}\n${fold(TEXTS.takeBack, asked.form('model-edit', fields, { query }))}`;
  });
  return section({ id: 'later', heading: TEXTS.later, body: [list(items)] });
}

function laterPricesOf(model: CatalogueModel, nowMs: number): readonly LaterPrice[] {
  const own = withoutEach(model, nowMs).map(({ fromMs, entry }) => ({ fromMs, upstream: undefined, without: entry }));
  const { upstreams = [] } = model;
  const ofUpstreams = upstreams.flatMap((one, at) =>
    withoutEach(one, nowMs).map(({ fromMs, entry }) => ({
      fromMs,
      upstream: `${one.provider}/${one.providerModel}`,
      without: { ...model, upstreams: upstreams.map((other, place) => (place === at ? entry : other)) },
    })),
  );
  return [...own, ...ofUpstreams].toSorted((left, right) => left.fromMs - right.fromMs);
}

/** An entry without each of its later prices. The last one takes the empty list with it. */
function withoutEach<Entry extends Pick<CatalogueModel, 'priceChanges'>>(entry: Entry, nowMs: number) {
  const { priceChanges = [], ...rest } = entry;
  return priceChanges.flatMap((change, at) => {
    const fromMs = epochMsOf(change.from);
    const others = priceChanges.filter((_one, place) => place !== at);
    return fromMs > nowMs ? [{ fromMs, entry: others.length === 0 ? rest : { ...rest, priceChanges: others } }] : [];
  });
}

import { type CatalogueModel, type CataloguePrice, statedPrice, upstreamsOf } from '@purser/contract/catalogue.ts';
import { granted } from '#http/planes/planes.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { micros } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { button, card, linkLine } from '#web/components/parts.ts';
import { hiddenField, selectField, textField } from '#web/fields/fields.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import type { Form } from '#web/forms/form.ts';
import { redirectTo } from '#web/frame/page.ts';
import { actPage } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { opsPath } from '#web/ops/frame/details.ts';
import { changeFields, changeIn } from '#web/ops/catalogue/changes.ts';
import { momentIn } from '#web/ops/catalogue/parts.ts';
import { EDIT_TEXTS, PRICE_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';
import { showChange } from '#web/ops/models/model-edit.ts';
import { changeInForce } from '#catalogue/price-row.ts';
import { epochMsOf } from '#kernel/time/clock.ts';

/** The fields of the form as texts. */
type Typed = Readonly<Record<FormRate | 'margin' | 'marginPerCall' | 'from' | 'reason', string>>;

/**
 * The page `/ops/price?id=`, which changes the price of a model or of one of its upstreams. The form leads to
 * what the change does, and that page to the saving.
 */
export const pricePage = actPage({
  show: async (asked, again) => {
    const priced = await pricedIn(asked);
    if (priced === undefined) return redirectTo(opsPath('model', { id: asked.asks('id') }));
    const { model, version, sheets, sheet } = priced;
    const { id } = model;
    const typed = again === undefined ? typedOf(sheet) : formOf(again.form);
    const of = String(sheet.upstream ?? '');
    const hasOthers = Object.keys(sheet.price ?? {}).some((name) => !FORM_RATES.some((rate) => rate === name));
    const fields = html`${rateFields(typed)}
${textField({ name: 'margin', label: TEXTS.margin, value: typed.margin, hint: TEXTS.marginHint, inputMode: 'decimal', isRequired: true })}
${amount('marginPerCall', TEXTS.marginPerCall, typed.marginPerCall, TEXTS.noFee)}
${textField({ name: 'from', label: TEXTS.from, value: typed.from, hint: TEXTS.fromHint, autocomplete: 'off', lengthMax: 20 })}
${changeFields(version, { typed: typed.reason })}
${button(EDIT_TEXTS.show)}`;
    const body = html`<p class="soft">${TEXTS.what(asked.currency)}</p>
${sheets.length > 1 ? choice(model, sheets, of) : undefined}
${hasOthers ? html`<p>${TEXTS.others}</p>` : undefined}
${card(asked.form('price', fields, { query: `id=${encodeURIComponent(id)}&of=${of}` }))}
${linkLine(opsPath('model-edit', { id }), 'Change the whole entry')}
${linkLine(opsPath('model', { id }), EDIT_TEXTS.back)}`;
    return asked.show({ title: `Price of ${id}`, body, below: 'catalogue', refusal: again?.refusal });
  },
  act: async (asked, form) => {
    const priced = await pricedIn(asked);
    const id = asked.asks('id');
    if (priced === undefined) return opsPath('model', { id });
    const given = changeIn(asked, form);
    const sheet = granted(sheetIn(formOf(form)));
    const entry = withSheet(priced.model, priced.sheet, sheet, asked.clock.nowMs());
    return showChange(asked, { ...given, id, entry, isNew: false });
  },
});

/** The price of the catalogue that the address names. Undefined if there is no such model. */
async function pricedIn({ operator, clock, asks }: OpsRequest) {
  const { file, version } = await operator.catalogue.read();
  const model = file.models.find((one) => one.id === asks('id'));
  const sheets = model === undefined ? [] : sheetsOf(model, clock.nowMs());
  const sheet = sheets.find(({ upstream }) => String(upstream ?? '') === asks('of')) ?? sheets[0];
  return model === undefined || sheet === undefined ? undefined : { model, version, sheets, sheet };
}

function textOf(price: number | undefined): string {
  return price === undefined ? '' : amountText(micros(BigInt(price)));
}

function typedOf({ price, marginBasisPoints, marginMicrosPerCall }: Sheet): Typed {
  const rates = Object.fromEntries(FORM_RATES.map((name) => [name, textOf(price?.[name])])) as Record<FormRate, string>;
  const marginPerCall = marginMicrosPerCall === 0 ? '' : textOf(marginMicrosPerCall);
  return { ...rates, margin: String(marginBasisPoints / 100), marginPerCall, from: '', reason: '' };
}

function formOf({ field }: Form): Typed {
  const names = [...FORM_RATES, 'margin', 'marginPerCall', 'from', 'reason'] as const;
  return Object.fromEntries(names.map((name) => [name, field(name).trim()])) as unknown as Typed;
}

function isNeeded(name: FormRate): boolean {
  return name === 'inputMicrosPerMillion' || name === 'outputMicrosPerMillion';
}

/** The form as a price. The contract checks its bounds with the whole catalogue. */
function sheetIn(typed: Typed): NewSheet | Refusal<'BAD_REQUEST'> {
  const rates: Partial<Record<FormRate, number>> = {};
  for (const name of FORM_RATES) {
    if (typed[name] === '' && !isNeeded(name)) continue;
    const rate = parseAmount(typed[name]);
    if (rate === undefined) return refuse('BAD_REQUEST', TEXTS.notAmount(TEXTS.rates[name]));
    rates[name] = Number(rate);
  }
  const perCall = typed.marginPerCall === '' ? 0n : parseAmount(typed.marginPerCall);
  if (perCall === undefined) return refuse('BAD_REQUEST', TEXTS.notAmount(TEXTS.marginPerCall));
  const [, whole, rest = ''] = /^(\d{1,5})(?:[.,](\d{1,2}))?$/.exec(typed.margin) ?? [];
  if (whole === undefined) return refuse('BAD_REQUEST', TEXTS.notShare);
  const from = momentIn(typed.from);
  if (from instanceof Refusal) return from;
  const marginBasisPoints = Number(whole) * 100 + Number(rest.padEnd(2, '0'));
  return { rates, marginBasisPoints, marginMicrosPerCall: Number(perCall), from };
}

function rateFields(typed: Typed): readonly Html[] {
  return FORM_RATES.map((name) => {
    const hint = isNeeded(name) ? undefined : name === 'microsPerCall' ? TEXTS.noFee : TEXTS.optional;
    return html`${amount(name, TEXTS.rates[name], typed[name], hint, isNeeded(name))}\n`;
  });
}

function amount(name: string, label: string, value: string, hint?: string, isRequired = false): Html {
  const isInvalid = value !== '' && parseAmount(value) === undefined;
  const more = hint === undefined ? {} : { hint };
  return textField({ name, label, value, autocomplete: 'off', inputMode: 'decimal', isRequired, isInvalid, ...more });
}

/** Lets the operator choose whose price it is, if the entry has several. */
function choice(model: CatalogueModel, sheets: readonly Sheet[], of: string): Html {
  const upstreams = upstreamsOf(model);
  const choices = sheets.map(({ upstream }) => {
    const one = upstream === undefined ? undefined : upstreams[upstream];
    const text = one === undefined ? TEXTS.ofModel : `${one.provider}/${one.providerModel}`;
    return { value: String(upstream ?? ''), text, isChosen: String(upstream ?? '') === of };
  });
  return html`<form method="get" action="${opsPath('price')}">
${hiddenField('id', model.id)}
${selectField({ name: 'of', label: 'Price of', choices })}
${button('Show', { kind: 'quiet' })}
</form>`;
}

/** The rates and fees of the form. A price may have more, which it keeps. */
const FORM_RATES = Object.keys(TEXTS.rates) as FormRate[];
type FormRate = keyof typeof TEXTS.rates;

/** The price of a model, or of one of its upstreams that has a price of its own. */
type Sheet = ReturnType<typeof sheetOf>;

/** The prices of an entry that can be changed. */
function sheetsOf(model: CatalogueModel, nowMs: number): readonly Sheet[] {
  const { upstreams = [] } = model;
  const own = sheetOf(model, undefined, statedPrice(model), nowMs);
  const others = upstreams.flatMap((one, at) =>
    one.price === undefined ? [] : [sheetOf(model, at, one.price, nowMs)],
  );
  const isOwnUsed = upstreams.length === 0 || upstreams.some(({ price }) => price === undefined);
  return isOwnUsed ? [own, ...others] : others;
}

function sheetOf(
  model: CatalogueModel,
  upstream: number | undefined,
  stated: CataloguePrice | undefined,
  nowMs: number,
) {
  const own = upstream === undefined ? undefined : model.upstreams?.[upstream];
  const change = changeInForce((own ?? model).priceChanges, nowMs);
  return {
    /** The index of the upstream whose price it is. It is undefined for the model's own price. */
    upstream,
    /** The price that is in force now. It is undefined for a free model. */
    price: change?.price ?? stated,
    marginBasisPoints: change?.marginBasisPoints ?? own?.marginBasisPoints ?? model.marginBasisPoints,
    marginMicrosPerCall: change?.marginMicrosPerCall ?? own?.marginMicrosPerCall ?? model.marginMicrosPerCall ?? 0,
  };
}

/** A price as it was typed. */
interface NewSheet {
  readonly rates: Readonly<Partial<Record<FormRate, number>>>;
  readonly marginBasisPoints: number;
  readonly marginMicrosPerCall: number;
  /** The time from which it holds, in ISO 8601 to the second. It is undefined if it holds at once. */
  readonly from: string | undefined;
}

/** The entry with a new price. What the form does not show of the price stays, and so do prices for later. */
function withSheet(model: CatalogueModel, sheet: Sheet, typed: NewSheet, nowMs: number): object {
  const { upstream } = sheet;
  if (upstream === undefined) return changed(model, sheet, typed, nowMs);
  const upstreams = (model.upstreams ?? []).map((one, at) =>
    at === upstream ? changed(one, sheet, typed, nowMs) : one,
  );
  return { ...model, upstreams };
}

type Priced = Pick<CatalogueModel, 'priceChanges'>;

function changed(entry: Priced, sheet: Sheet, { rates, from, ...margins }: NewSheet, nowMs: number): object {
  const kept = Object.entries(sheet.price ?? {}).filter(([name]) => !FORM_RATES.some((rate) => rate === name));
  const price = { ...rates, ...Object.fromEntries(kept) };
  const { priceChanges = [], ...rest } = entry;
  if (from !== undefined) return { ...entry, priceChanges: [...priceChanges, { from, price, ...margins }] };
  // A price that was set for later and is in force would count instead of the new one.
  const later = priceChanges.filter((change) => epochMsOf(change.from) > nowMs);
  const { cacheWriteMicrosPerMillion: _old, ...others } = rest as typeof rest & { cacheWriteMicrosPerMillion?: number };
  const { marginMicrosPerCall, marginBasisPoints } = margins;
  return {
    ...others,
    price,
    marginBasisPoints,
    ...(marginMicrosPerCall === 0 && !('marginMicrosPerCall' in rest) ? {} : { marginMicrosPerCall }),
    ...(later.length === 0 ? {} : { priceChanges: later }),
  };
}

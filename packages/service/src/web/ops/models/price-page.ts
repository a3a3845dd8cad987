import { type CatalogueModel, upstreamsOf } from '@purser/contract/catalogue.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { micros } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { button } from '#web/components/button.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { selectField } from '#web/fields/select-field.ts';
import { textField } from '#web/fields/text-field.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { showPreview } from '#web/ops/models/model-preview.ts';
import { actFields, actIn, momentIn } from '#web/ops/catalogue/parts.ts';
import {
  FORM_RATES,
  type FormRate,
  type NewSheet,
  type Sheet,
  sheetsOf,
  withSheet,
} from '#web/ops/models/price-sheet.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS, EDIT_TEXTS, PRICE_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/** The fields of the form as texts. */
type Typed = Readonly<Record<FormRate | 'margin' | 'marginPerCall' | 'from' | 'reason', string>>;

interface Priced {
  readonly model: CatalogueModel;
  readonly version: bigint;
  readonly sheets: readonly Sheet[];
  readonly sheet: Sheet;
}

/**
 * Makes the page `/ops/price?id=`, which changes the price of a model or of one of its upstreams. The form leads to
 * what the change does, and that page to the saving.
 */
export function pricePage(services: OpsCatalogueServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { query } = asked.request;
      const priced = await pricedIn(services, query.get('id') ?? '', query.get('of') ?? '');
      if (priced === undefined) return redirectTo(opsPath('model', { id: query.get('id') ?? '' }));
      return showForm(services, asked, priced, typedOf(priced.sheet));
    },
    POST: async (asked, form) => {
      const { query } = asked.request;
      const id = query.get('id') ?? '';
      const priced = await pricedIn(services, id, query.get('of') ?? '');
      if (priced === undefined) return redirectTo(opsPath('model', { id }));
      const typed = formOf(form);
      const given = actIn(asked, form);
      if (given instanceof Refusal) return showForm(services, asked, priced, typed, given);
      const sheet = sheetIn(typed);
      if (sheet instanceof Refusal) return showForm(services, asked, priced, typed, sheet);
      const entry = withSheet(priced.model, priced.sheet, sheet, services.clock.nowMs());
      const shown = await showPreview(services, asked, { ...given, id, entry, isNew: false });
      return shown instanceof Refusal ? showForm(services, asked, priced, typed, shown) : shown;
    },
  });
}

/** A price of the catalogue. Undefined if there is no such model. */
async function pricedIn(
  { operator, clock }: OpsCatalogueServices,
  id: string,
  of: string,
): Promise<Priced | undefined> {
  const { file, version } = await operator.catalogue.read();
  const model = file.models.find((one) => one.id === id);
  const sheets = model === undefined ? [] : sheetsOf(model, clock.nowMs());
  const sheet = sheets.find(({ upstream }) => String(upstream ?? '') === of) ?? sheets[0];
  return model === undefined || sheet === undefined ? undefined : { model, version, sheets, sheet };
}

function textOf(amount: number | undefined): string {
  return amount === undefined ? '' : amountText(micros(BigInt(amount)));
}

function typedOf({ price, marginBasisPoints, marginMicrosPerCall }: Sheet): Typed {
  const rates = Object.fromEntries(FORM_RATES.map((name) => [name, textOf(price?.[name])])) as Record<FormRate, string>;
  return {
    ...rates,
    margin: String(marginBasisPoints / 100),
    marginPerCall: marginMicrosPerCall === 0 ? '' : textOf(marginMicrosPerCall),
    from: '',
    reason: '',
  };
}

function formOf({ field }: Form): Typed {
  const names = [...FORM_RATES, 'margin', 'marginPerCall', 'from', 'reason'] as const;
  return Object.fromEntries(names.map((name) => [name, field(name).trim()])) as unknown as Typed;
}

/** The form as a price. The contract checks its bounds with the whole catalogue. */
function sheetIn(typed: Typed): NewSheet | Refusal<'BAD_REQUEST'> {
  const rates: Partial<Record<FormRate, number>> = {};
  for (const name of FORM_RATES) {
    const isNeeded = name === 'inputMicrosPerMillion' || name === 'outputMicrosPerMillion';
    if (typed[name] === '' && !isNeeded) continue;
    const amount = parseAmount(typed[name]);
    if (amount === undefined) return refuse('BAD_REQUEST', TEXTS.notAmount(TEXTS.rates[name]));
    rates[name] = Number(amount);
  }
  const perCall = typed.marginPerCall === '' ? 0n : parseAmount(typed.marginPerCall);
  if (perCall === undefined) return refuse('BAD_REQUEST', TEXTS.notAmount(TEXTS.marginPerCall));
  const [, whole, part = ''] = /^(\d{1,5})(?:[.,](\d{1,2}))?$/.exec(typed.margin) ?? [];
  if (whole === undefined) return refuse('BAD_REQUEST', TEXTS.notShare);
  const from = momentIn(typed.from);
  if (from instanceof Refusal) return from;
  const marginBasisPoints = Number(whole) * 100 + Number(part.padEnd(2, '0'));
  return { rates, marginBasisPoints, marginMicrosPerCall: Number(perCall), from };
}

function showForm(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  priced: Priced,
  typed: Typed,
  refusal?: Refusal,
): PageResponse {
  const { model, version, sheets, sheet } = priced;
  const { id } = model;
  const of = String(sheet.upstream ?? '');
  const query = `id=${encodeURIComponent(id)}&of=${of}`;
  const hasOthers = Object.keys(sheet.price ?? {}).some((name) => !FORM_RATES.some((rate) => rate === name));
  const fields = html`${rateFields(typed)}
${textField({ name: 'margin', label: TEXTS.margin, value: typed.margin, hint: TEXTS.marginHint, inputMode: 'decimal', isRequired: true })}
${amount('marginPerCall', TEXTS.marginPerCall, typed.marginPerCall, TEXTS.noFee)}
${textField({ name: 'from', label: TEXTS.from, value: typed.from, hint: TEXTS.fromHint, autocomplete: 'off', lengthMax: 20 })}
${actFields(version, { typed: typed.reason })}
${button(EDIT_TEXTS.show)}`;
  const body = html`${errorSummary(refusal?.message)}
<p class="soft">${TEXTS.what(services.currency)}</p>
${sheets.length > 1 ? choice(model, sheets, of) : undefined}
${hasOthers ? html`<p>${TEXTS.others}</p>` : undefined}
${card(asked.form('price', fields, { query }))}
${linkLine(opsPath('model-edit', { id }), TEXTS.entry)}
${linkLine(opsPath('model', { id }), EDIT_TEXTS.back)}`;
  const place = { page: 'catalogue', above: CATALOGUE_TEXTS.title };
  return showOpsPage(services, asked, { ...place, title: TEXTS.title(id), body, refusal });
}

function rateFields(typed: Typed): readonly Html[] {
  return FORM_RATES.map((name) => {
    const isNeeded = name === 'inputMicrosPerMillion' || name === 'outputMicrosPerMillion';
    const hint = isNeeded ? undefined : name === 'microsPerCall' ? TEXTS.noFee : TEXTS.optional;
    return html`${amount(name, TEXTS.rates[name], typed[name], hint, isNeeded)}\n`;
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
<input type="hidden" name="id" value="${model.id}">
${selectField({ name: 'of', label: TEXTS.of, choices })}
${button(TEXTS.choose, { kind: 'quiet' })}
</form>`;
}

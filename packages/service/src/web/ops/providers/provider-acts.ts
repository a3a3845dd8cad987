import type { CatalogueFile } from '@purser/contract/catalogue.ts';
import { type CatalogueProvider, credentialOf, keyNamesOf, originOf } from '@purser/contract/catalogue-providers.ts';
import { differencesOf } from '#catalogue/differences.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { button } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { hiddenField } from '#web/fields/form.ts';
import { list } from '#web/components/list.ts';
import { linkLine } from '#web/components/navigation.ts';
import { card } from '#web/components/section.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { concernedApps, fieldsTable, unsavedBadge } from '#web/ops/catalogue/effect-part.ts';
import { actIn, keyWords, originWords } from '#web/ops/catalogue/parts.ts';
import { modelsAt, showProvider } from '#web/ops/providers/provider-page.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS, EDIT_TEXTS, PROVIDER_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/**
 * Makes the page `/ops/provider?name=`, which shows where calls go, and with which key. Without a name, it is for a new
 * provider.
 */
export function providerPage(services: OpsCatalogueServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => showProvider(services, asked, asked.request.query.get('name') ?? ''),
    POST: async (asked, form) => {
      const known = asked.request.query.get('name') ?? '';
      const name = known === '' ? form.field('name').trim() : known;
      const typed = {
        name,
        entry: form.field('entry'),
        keyAgain: form.field('keyAgain').trim(),
        reason: form.field('reason'),
      };
      const done = await changeProvider(services, asked, form, { known, ...typed });
      return done instanceof Refusal ? showProvider(services, asked, known, { refusal: done, typed }) : done;
    },
  });
}

interface Wanted {
  /** The name of a known provider. It is empty for a new one. */
  readonly known: string;
  readonly name: string;
  readonly entry: string;
  readonly keyAgain: string;
}

/** A first press shows what the change does, the second one saves it. */
async function changeProvider(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  form: Form,
  { known, name, entry, keyAgain }: Wanted,
): Promise<PageResponse | Refusal> {
  const { catalogue } = services.operator;
  const given = actIn(asked, form);
  if (given instanceof Refusal) return given;
  const parsed = parseJson(entry);
  if (!isJsonObject(parsed)) return refuse('BAD_REQUEST', TEXTS.notJson);
  if (name === '') return refuse('BAD_REQUEST', TEXTS.nameMissing);
  const seen = await catalogue.preview({ kind: 'provider', name, entry: parsed }, given.version);
  if (seen instanceof Refusal) return seen;
  const before = Object.hasOwn(seen.before.providers, name) ? seen.before.providers[name] : undefined;
  const after = seen.after.providers[name];
  if (after === undefined) return refuse('BAD_REQUEST', TEXTS.nameMissing);
  if (known === '' && before !== undefined) return refuse('CONFLICT', TEXTS.exists);
  const unnamed = notNamedAgain(before, after, keyAgain);
  if (unnamed !== undefined) return unnamed;
  if (form.field('confirm') !== '') {
    const saved = await catalogue.change(given.act, { kind: 'provider', name, entry: parsed }, given.version);
    return saved instanceof Refusal ? saved : redirectTo(opsPath('provider', { name, done: 'saved' }));
  }
  const fields = html`${['entry', 'keyAgain', 'version', 'reason', 'name'].map((field) => hiddenField(field, form.field(field)))}
${hiddenField('confirm', 'yes')}
${button(EDIT_TEXTS.save)}`;
  const body = html`${unsavedBadge()}
${card(
  fieldsTable(differencesOf(before, after)),
  definitionList([
    [TEXTS.address, originWords(after)],
    [TEXTS.key, html`<code>${keyWords(after)}</code>`],
  ]),
  await servedPart(services, asked, name, seen.after),
  asked.form('provider', fields, { query: known === '' ? '' : `name=${encodeURIComponent(known)}` }),
)}
${linkLine(known === '' ? opsPath('catalogue') : opsPath('provider', { name: known }), EDIT_TEXTS.back)}`;
  const title = known === '' ? TEXTS.newTitle : known;
  return showOpsPage(services, asked, { title, body, page: 'catalogue', above: CATALOGUE_TEXTS.title });
}

/** Shows whom a change of the provider concerns: the models that it serves, and the apps that call them. */
async function servedPart(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  name: string,
  file: CatalogueFile,
): Promise<Html | undefined> {
  const models = modelsAt(file, name).map(({ id }) => id);
  if (models.length === 0) return undefined;
  const links = models.slice(0, NAMED_MAX).map((id) => html`<a href="${opsPath('model', { id })}">${id}</a>`);
  const rest = models.length - links.length;
  return html`<p>${TEXTS.staysPriced}</p>
<p>${TEXTS.servesAll(models.length)}</p>
${list(rest === 0 ? links : [...links, TEXTS.moreModels(rest)])}
${await concernedApps(services, asked, models)}`;
}

const NAMED_MAX = 10;

/**
 * A key that would go to another host has to be named anew, so that nobody sends one along by editing an address. The settings
 * decide whether it may go there at all: `catalogue.preview` has refused it otherwise (MO-11).
 */
function notNamedAgain(
  before: CatalogueProvider | undefined,
  after: CatalogueProvider,
  keyAgain: string,
): Refusal<'BAD_REQUEST'> | undefined {
  const origin = originOf(after);
  const hasKey = keyNamesOf(after).length > 0 || credentialOf(after) !== undefined;
  if (before === undefined || origin === undefined || origin === originOf(before) || !hasKey) return undefined;
  const names = keyWords(after);
  return keyAgain === names ? undefined : refuse('BAD_REQUEST', TEXTS.againMissing(origin, names));
}

/** Makes the form `/ops/provider-test?name=`, which makes a call of one token and shows what became of it. */
export function providerTestForm(services: OpsCatalogueServices): PageMethods {
  return forOperator(services, {
    formPage: '/ops/provider',
    POST: async (asked, form) => {
      const name = asked.request.query.get('name') ?? '';
      if (name === '') return redirectTo(opsPath('catalogue'));
      const model = form.field('model').trim();
      const tested = await services.operator.providerTest.test(
        asked.act(undefined),
        name,
        model === '' ? undefined : model,
      );
      return showProvider(services, asked, name, tested instanceof Refusal ? { refusal: tested } : { tested });
    },
  });
}

/** Makes the form `/ops/provider-delete?name=`, which removes a provider that serves no model. */
export function providerDeleteForm(services: OpsCatalogueServices): PageMethods {
  return forOperator(services, {
    formPage: '/ops/provider',
    POST: async (asked, form) => {
      const name = asked.request.query.get('name') ?? '';
      if (name === '') return redirectTo(opsPath('catalogue'));
      const given = actIn(asked, form);
      if (given instanceof Refusal) return showProvider(services, asked, name, { refusal: given });
      const change = { kind: 'provider', name, entry: undefined } as const;
      const done = await services.operator.catalogue.change(given.act, change, given.version);
      if (done instanceof Refusal) return showProvider(services, asked, name, { refusal: done });
      return redirectTo(opsPath('catalogue', { done: 'provider-gone' }));
    },
  });
}

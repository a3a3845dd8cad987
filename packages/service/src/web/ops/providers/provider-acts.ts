import type { CatalogueFile } from '@purser/contract/catalogue.ts';
import { type CatalogueProvider, credentialOf, keyNamesOf, originOf } from '@purser/contract/catalogue-providers.ts';
import { differencesOf } from '#catalogue/differences.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { list } from '#web/components/list.ts';
import { actPage } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code } from '#web/ops/frame/details.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { changeIn, removalForm, showUnsaved } from '#web/ops/catalogue/changes.ts';
import { concernedApps, fieldsTable } from '#web/ops/catalogue/effect-part.ts';
import { keyWords, originWords } from '#web/ops/catalogue/parts.ts';
import { EDIT_TEXTS, PROVIDER_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';
import { modelsAt, showProvider } from '#web/ops/providers/provider-page.ts';

const NAMED_MAX = 10;

/**
 * The page `/ops/provider?name=`, which shows where calls go, and with which key. Without a name, it is for a new
 * provider. A first press of its form shows what the change does, the second one saves it.
 */
export const providerPage = actPage({
  show: showProvider,
  act: async (asked, form) => {
    const { catalogue } = asked.operator;
    const known = asked.asks('name');
    const name = known === '' ? form.field('name').trim() : known;
    const given = changeIn(asked, form);
    if (given instanceof Refusal) return given;
    const parsed = parseJson(form.field('entry'));
    if (!isJsonObject(parsed)) return refuse('BAD_REQUEST', 'The entry is not valid JSON.');
    if (name === '') return refuse('BAD_REQUEST', TEXTS.nameMissing);
    const change = { kind: 'provider', name, entry: parsed } as const;
    const seen = await catalogue.preview(change, given.version);
    if (seen instanceof Refusal) return seen;
    const before = Object.hasOwn(seen.before.providers, name) ? seen.before.providers[name] : undefined;
    const after = seen.after.providers[name];
    if (after === undefined) return refuse('BAD_REQUEST', TEXTS.nameMissing);
    if (known === '' && before !== undefined) return refuse('CONFLICT', TEXTS.exists);
    const unnamed = notNamedAgain(before, after, form.field('keyAgain').trim());
    if (unnamed !== undefined) return unnamed;
    if (form.field('confirm') !== '') {
      const saved = await catalogue.change(given.act, change, given.version);
      return saved instanceof Refusal ? saved : opsPath('provider', { name, done: 'saved' });
    }
    const facts = definitionList([
      [TEXTS.address, originWords(after)],
      [TEXTS.key, code(keyWords(after))],
    ]);
    const sent = ['entry', 'keyAgain', 'version', 'reason', 'name'].map((field) => [field, form.field(field)]);
    return showUnsaved(asked, {
      title: known === '' ? TEXTS.newTitle : known,
      beside: [fieldsTable(differencesOf(before, after)), facts, await servedPart(asked, name, seen.after)],
      form: { page: 'provider', query: { name: known }, values: Object.fromEntries(sent) },
      save: EDIT_TEXTS.save,
      back: known === '' ? opsPath('catalogue') : opsPath('provider', { name: known }),
    });
  },
});

/** Shows whom a change of the provider concerns: the models that it serves, and the apps that call them. */
async function servedPart(asked: OpsRequest, name: string, file: CatalogueFile): Promise<Html | undefined> {
  const models = modelsAt(file, name).map(({ id }) => id);
  if (models.length === 0) return undefined;
  const links = models.slice(0, NAMED_MAX).map((id) => html`<a href="${opsPath('model', { id })}">${id}</a>`);
  const rest = models.length - links.length;
  return html`<p>Prices and holds belong to the models. A change to the provider does not affect them.</p>
<p>${TEXTS.servesAll(models.length)}</p>
${list(rest === 0 ? links : [...links, `and ${rest} more`])}
${await concernedApps(asked, models)}`;
}

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

/** The form `/ops/provider-test?name=`, which makes a call of one token and shows what became of it. */
export const providerTestForm = actPage({
  formPage: '/ops/provider',
  show: (asked, again) => showProvider(asked, again && { refusal: again.refusal }),
  act: async (asked, form) => {
    const name = asked.asks('name');
    if (name === '') return opsPath('catalogue');
    const model = form.field('model').trim();
    const tested = await asked.operator.providerTest.test(asked.act(undefined), name, model || undefined);
    return tested instanceof Refusal ? tested : showProvider(asked, { tested });
  },
});

/** The form `/ops/provider-delete?name=`, which removes a provider that serves no model. */
export const providerDeleteForm = removalForm({ kind: 'provider', field: 'name' }, (asked, again) =>
  showProvider(asked, again && { refusal: again.refusal }),
);

import { type CatalogueFile, upstreamsOf } from '@purser/contract/catalogue.ts';
import { type CatalogueProvider, credentialOf, keyNamesOf, originOf } from '@purser/contract/catalogue-providers.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ProviderTested } from '#operator/catalogue/provider-test.ts';
import { textArea, textField } from '#web/fields/fields.ts';
import type { Form } from '#web/forms/form.ts';
import type { PageResponse } from '#web/frame/page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, opsPath, part, soft } from '#web/ops/frame/details.ts';
import { changeFields, changeIn, removalForm, removalPart, showUnsaved } from '#web/ops/catalogue/changes.ts';
import { concernedApps, fieldsTable } from '#web/ops/catalogue/effect-part.ts';
import { healthBadge, keyWords, originWords } from '#web/ops/catalogue/parts.ts';
import { CATALOGUE_TEXTS, EDIT_TEXTS, PROVIDER_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';
import { differencesOf } from '#catalogue/differences.ts';
import { granted } from '#http/planes/planes.ts';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { badge, button, definitionList, linkLine, list } from '#web/components/parts.ts';
import { actPage } from '#web/ops/frame/act-page.ts';

const TEMPLATE = { kind: 'openai-compatible', baseUrl: 'https://api.vendor.example/v1', apiKey: 'vendor' };

/** What a page of a provider may show besides: a refusal with the form of the provider, or the result of a test. */
interface Extra {
  readonly refusal?: Refusal;
  readonly form?: Form;
  readonly tested?: ProviderTested;
}

/** The page of the provider that the address names, or of a new one if it names none. */
async function showProvider(asked: OpsRequest, { refusal, form, tested }: Extra = {}): Promise<PageResponse> {
  const name = asked.asks('name');
  const { file, version } = await asked.operator.catalogue.read();
  const provider = Object.hasOwn(file.providers, name) ? file.providers[name] : undefined;
  if (provider === undefined && name !== '') {
    const none = refusal ?? refuse('NOT_FOUND', 'There is no such provider.');
    return asked.show({ title: name, below: 'catalogue', refusal: none });
  }
  const known = provider && { name, provider, file };
  const body = html`${tested && testedPart(asked, tested)}
${known && factsPart(asked, known)}
${known && testPart(asked, known, tested?.providerModel)}
${changePart(asked, provider, version, form)}
${known && removalOf(asked, known, version)}`;
  return asked.show({
    title: name === '' ? TEXTS.newTitle : name,
    body,
    below: 'catalogue',
    refusal,
    done: TEXTS.done,
  });
}

interface Known {
  readonly name: string;
  readonly provider: CatalogueProvider;
  readonly file: CatalogueFile;
}

/** What a call of one token has shown. It has no text of the provider, and nothing of the key. */
function testedPart({ formats, amount }: OpsRequest, tested: ProviderTested): Html {
  const { outcome, words, status, firstByteMs, totalMs, usage, cost, origin, providerModel } = tested;
  const isGood = outcome === 'answered';
  const counted =
    usage?.prompt === undefined || usage.completion === undefined
      ? 'not reported'
      : TEXTS.usageOf(formats.count(usage.prompt), formats.count(usage.completion));
  const facts = definitionList([
    ['Sent to', outcome === 'no-key' ? 'nowhere' : (origin ?? CATALOGUE_TEXTS.simulator)],
    [TEXTS.model, providerModel],
    status === undefined ? undefined : ['HTTP status', status],
    firstByteMs === undefined ? undefined : ['Time to first byte', TEXTS.ms(firstByteMs)],
    outcome === 'no-key' ? undefined : ['Total time', TEXTS.ms(totalMs)],
    isGood ? ['Usage', counted] : undefined,
    cost === undefined ? undefined : ['Your cost at the catalogue’s prices', amount(cost)],
  ]);
  const isReached = outcome === 'rejected' && status !== 404;
  return part(
    'tested',
    'Result',
    html`<p role="status">${badge(isGood ? 'answered' : outcome, isGood ? 'good' : 'warn')} ${words}</p>`,
    isReached ? html`<p class="soft">${TEXTS.rejectedHint}</p>` : undefined,
    facts,
  );
}

function factsPart({ operator, may }: OpsRequest, { name, provider, file }: Known): Html {
  const fault = operator.catalogue.keyFaultOf(provider);
  const reports = operator.readUpstreams().filter((one) => one.provider === name);
  const models = modelsAt(file, name).map(({ id }) => html`<a href="${opsPath('model', { id })}">${id}</a> `);
  const bound = fault === undefined ? 'yes' : html`${badge('no', 'warn')} ${soft(fault)}`;
  const facts = definitionList([
    ['Format', provider.kind],
    [TEXTS.address, originWords(provider)],
    [TEXTS.key, code(keyWords(provider))],
    originOf(provider) === undefined ? undefined : ['Key allowed', bound],
    ['State', healthBadge(reports)],
    ['Models that it serves', models.length === 0 ? 'It serves no models.' : html`${models}`],
  ]);
  const add = linkLine(opsPath('model-edit', { provider: name }), 'Add a model of this provider');
  return part('facts', 'Where calls go', facts, may('model-edit') ? add : undefined);
}

/** The models that a provider serves. */
export function modelsAt({ models }: CatalogueFile, name: string): CatalogueFile['models'] {
  return models.filter((model) => upstreamsOf(model).some(({ provider }) => provider === name));
}

function testPart(asked: OpsRequest, { name, file }: Known, typed: string | undefined): Html | undefined {
  if (!asked.may('provider-test')) return undefined;
  const [first] = modelsAt(file, name).flatMap((model) => upstreamsOf(model).filter((one) => one.provider === name));
  const fields = html`${textField({ name: 'model', label: TEXTS.model, value: typed ?? first?.providerModel ?? '', lengthMax: 256, isRequired: true })}
${button(TEXTS.test, { kind: 'quiet' })}`;
  const form = asked.form('provider-test', fields, { query: { name } });
  return part('test', TEXTS.test, html`<p>${TEXTS.testWhat}</p>`, form);
}

/** The form that changes a provider or adds one. `form`: as it was sent and refused. */
function changePart(
  asked: OpsRequest,
  provider: CatalogueProvider | undefined,
  version: bigint,
  form: Form | undefined,
): Html | undefined {
  if (!asked.may('provider')) return undefined;
  const typed = (name: string) => form?.field(name) ?? '';
  const isNew = provider === undefined;
  const value = form?.field('entry') ?? JSON.stringify(provider ?? TEMPLATE, undefined, 2);
  const name = { name: 'name', label: 'Name', value: typed('name').trim(), lengthMax: 128, isRequired: true };
  const again = {
    name: 'keyAgain',
    label: 'Confirm the name of the key',
    value: typed('keyAgain').trim(),
    hint: TEXTS.againHint,
    autocomplete: 'off',
    lengthMax: 4_000,
  };
  const fields = html`${isNew ? textField(name) : undefined}
${textArea({ name: 'entry', label: 'Entry (JSON)', value, hint: TEXTS.entryHint, rows: 10 })}
${isNew ? undefined : textField(again)}
${changeFields(version, { typed: typed('reason') })}
${button(EDIT_TEXTS.show)}`;
  const sent = asked.form('provider', fields, { query: { name: asked.asks('name') } });
  return part('change', isNew ? TEXTS.newTitle : 'Change the provider', sent);
}

function removalOf(asked: OpsRequest, { name, file }: Known, version: bigint): Html | undefined {
  const first = modelsAt(file, name).length > 0 ? TEXTS.removeFirst : undefined;
  const removal = { kind: 'provider', field: 'name', name, version } as const;
  return removalPart(asked, { ...removal, title: 'Remove the provider', what: TEXTS.removeWhat, first });
}

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
    const parsed = parseJson(form.field('entry'));
    if (!isJsonObject(parsed)) return refuse('BAD_REQUEST', 'The entry is not valid JSON.');
    if (name === '') return refuse('BAD_REQUEST', TEXTS.nameMissing);
    const change = { kind: 'provider', name, entry: parsed } as const;
    const seen = granted(await catalogue.preview(change, given.version));
    const before = Object.hasOwn(seen.before.providers, name) ? seen.before.providers[name] : undefined;
    const after = seen.after.providers[name];
    if (after === undefined) return refuse('BAD_REQUEST', TEXTS.nameMissing);
    if (known === '' && before !== undefined) return refuse('CONFLICT', TEXTS.exists);
    const unnamed = notNamedAgain(before, after, form.field('keyAgain').trim());
    if (unnamed !== undefined) return unnamed;
    if (form.field('confirm') !== '') {
      granted(await catalogue.change(given.act, change, given.version));
      return opsPath('provider', { name, done: 'saved' });
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
function notNamedAgain(before: CatalogueProvider | undefined, after: CatalogueProvider, keyAgain: string) {
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
    const tested = granted(await asked.operator.providerTest.test(asked.act(undefined), name, model || undefined));
    return showProvider(asked, { tested });
  },
});

/** The form `/ops/provider-delete?name=`, which removes a provider that serves no model. */
export const providerDeleteForm = removalForm({ kind: 'provider', field: 'name' }, (asked, again) =>
  showProvider(asked, again && { refusal: again.refusal }),
);

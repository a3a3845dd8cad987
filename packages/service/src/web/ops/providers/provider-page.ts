import { type CatalogueFile, upstreamsOf } from '@purser/contract/catalogue.ts';
import { type CatalogueProvider, originOf } from '@purser/contract/catalogue-providers.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ProviderTested } from '#operator/catalogue/provider-test.ts';
import { badge } from '#web/components/badge.ts';
import { button } from '#web/components/button.ts';
import { confirmation } from '#web/components/confirm.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { section } from '#web/components/section.ts';
import { textField } from '#web/fields/text-field.ts';
import type { PageResponse } from '#web/frame/page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { actFields, healthBadge, keyWords, originWords } from '#web/ops/catalogue/parts.ts';
import { changePart, type TypedProvider } from '#web/ops/providers/provider-form.ts';
import { testedPart } from '#web/ops/providers/tested-part.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS, PROVIDER_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/** What a page of a provider may show besides: a refusal with what was typed, or the result of a test. */
interface Extra {
  readonly refusal?: Refusal;
  readonly typed?: TypedProvider;
  readonly tested?: ProviderTested;
}

/** The page of a provider, or of a new one if the name is empty. */
export async function showProvider(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  name: string,
  { refusal, typed, tested }: Extra = {},
): Promise<PageResponse> {
  const { file, version } = await services.operator.catalogue.read();
  const provider = Object.hasOwn(file.providers, name) ? file.providers[name] : undefined;
  const page = { page: 'catalogue', above: CATALOGUE_TEXTS.title };
  if (provider === undefined && name !== '') {
    const none = refusal ?? refuse('NOT_FOUND', TEXTS.none);
    return showOpsPage(services, asked, {
      ...page,
      title: name,
      body: html`${errorSummary(none.message)}`,
      refusal: none,
    });
  }
  const notice = refusal === undefined ? TEXTS.done.get(asked.request.query.get('done')) : undefined;
  const body = html`${errorSummary(refusal?.message)}${successNotice(notice)}
${tested === undefined ? undefined : testedPart(services, asked, tested)}
${provider === undefined ? undefined : factsPart(services, asked, { name, provider, file })}
${provider === undefined ? undefined : testPart(asked, name, file, tested?.providerModel)}
${changePart(asked, { name, provider, version, typed })}
${provider === undefined ? undefined : removePart(asked, { name, file, version })}`;
  return showOpsPage(services, asked, { ...page, title: name === '' ? TEXTS.newTitle : name, body, refusal });
}

interface Shown {
  readonly name: string;
  readonly provider: CatalogueProvider;
  readonly file: CatalogueFile;
}

function factsPart({ operator }: OpsCatalogueServices, asked: OpsRequest, { name, provider, file }: Shown): Html {
  const fault = operator.catalogue.keyFaultOf(provider);
  const reports = operator.readUpstreams().filter((one) => one.provider === name);
  const models = modelsAt(file, name).map(({ id }) => html`<a href="${opsPath('model', { id })}">${id}</a> `);
  return section({
    id: 'facts',
    heading: TEXTS.facts,
    body: [
      definitionList([
        [TEXTS.kind, provider.kind],
        [TEXTS.address, originWords(provider)],
        [TEXTS.key, html`<code>${keyWords(provider)}</code>`],
        originOf(provider) === undefined
          ? undefined
          : [
              TEXTS.bound,
              fault === undefined ? TEXTS.yes : html`${badge(TEXTS.no, 'warn')} <span class="soft">${fault}</span>`,
            ],
        [TEXTS.state, healthBadge(reports)],
        [TEXTS.models, models.length === 0 ? TEXTS.noModels : html`${models}`],
      ]),
      asked.may('model-edit') ? linkLine(opsPath('model-edit', { provider: name }), TEXTS.addModel) : undefined,
    ],
  });
}

/** The models that a provider serves. */
export function modelsAt({ models }: CatalogueFile, name: string): CatalogueFile['models'] {
  return models.filter((model) => upstreamsOf(model).some(({ provider }) => provider === name));
}

function testPart(asked: OpsRequest, name: string, file: CatalogueFile, typed: string | undefined): Html | undefined {
  if (!asked.may('provider-test')) return undefined;
  const [first] = modelsAt(file, name).flatMap((model) => upstreamsOf(model).filter((one) => one.provider === name));
  const fields = html`${textField({ name: 'model', label: TEXTS.model, value: typed ?? first?.providerModel ?? '', lengthMax: 256, isRequired: true })}
${button(TEXTS.test, { kind: 'quiet' })}`;
  return section({
    id: 'test',
    heading: TEXTS.test,
    body: [
      html`<p>${TEXTS.testWhat}</p>`,
      asked.form('provider-test', fields, { query: `name=${encodeURIComponent(name)}` }),
    ],
  });
}

function removePart(
  asked: OpsRequest,
  { name, file, version }: { readonly name: string; readonly file: CatalogueFile; readonly version: bigint },
): Html | undefined {
  if (!asked.may('provider-delete')) return undefined;
  const fields = html`${actFields(version, { of: '-remove' })}\n${button(TEXTS.remove, { kind: 'danger' })}`;
  const form = asked.form('provider-delete', fields, { query: `name=${encodeURIComponent(name)}` });
  const isUsed = modelsAt(file, name).length > 0;
  return section({
    id: 'remove',
    heading: TEXTS.remove,
    body: [
      isUsed ? html`<p>${TEXTS.removeFirst}</p>` : confirmation({ act: TEXTS.remove, what: TEXTS.removeWhat, form }),
    ],
  });
}

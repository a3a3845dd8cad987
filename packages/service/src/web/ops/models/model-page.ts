import { type CatalogueFile, type CatalogueModel, upstreamsOf } from '@purser/contract/catalogue.ts';
import { effectOf } from '#catalogue/price-effect.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { button, buttonLink, row } from '#web/components/button.ts';
import { confirmation } from '#web/components/confirm.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { hiddenField } from '#web/fields/form.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { aliasesPart } from '#web/ops/models/aliases-part.ts';
import { stateOf } from '#web/ops/catalogue/catalogue-page.ts';
import { type AppNames, appLink } from '#web/ops/frame/links.ts';
import { sampleWords, usedBy } from '#web/ops/catalogue/effect-part.ts';
import { laterPricesPart } from '#web/ops/models/later-prices.ts';
import { actFields, amountIn, healthBadge, priceCells } from '#web/ops/catalogue/parts.ts';
import { pricesPart } from '#web/ops/models/prices-part.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS, MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/** Makes the page `/ops/model?id=`, which shows one entry with its prices, upstreams and aliases, and who uses it. */
export function modelPage(services: OpsCatalogueServices): PageMethods {
  return forOperator(services, { GET: (asked) => showModel(services, asked, asked.request.query.get('id') ?? '') });
}

interface ShownModel {
  readonly model: CatalogueModel;
  readonly file: CatalogueFile;
  readonly version: bigint;
}

/** The page of a model, also after a form on it was refused. */
export async function showModel(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  id: string,
  refusal?: Refusal,
): Promise<PageResponse> {
  if (id === '') return redirectTo(opsPath('catalogue'));
  const { file, version } = await services.operator.catalogue.read();
  const model = file.models.find((one) => one.id === id);
  const page = { page: 'catalogue', above: CATALOGUE_TEXTS.title };
  if (model === undefined) {
    const none = refusal ?? refuse('NOT_FOUND', TEXTS.none);
    return showOpsPage(services, asked, {
      ...page,
      title: id,
      body: html`${errorSummary(none.message)}`,
      refusal: none,
    });
  }
  const shown = { model, file, version };
  const used = await usedBy(services, [id]);
  const names = await services.operator.apps.names(used.map(({ appId }) => appId));
  const notice = refusal === undefined ? TEXTS.done.get(asked.request.query.get('done')) : undefined;
  const body = html`${errorSummary(refusal?.message)}${successNotice(notice)}
${factsPart(services, asked, shown)}
${upstreamsPart(services, asked, shown)}
${costsPart(services, asked, model)}
${await pricesPart(services, asked, id)}
${laterPricesPart(asked, { model, version, nowMs: services.clock.nowMs() })}
${aliasesPart(asked, shown)}
${usedPart(services, asked, used, names)}
${removePart(asked, shown, used.length)}`;
  return showOpsPage(services, asked, { ...page, title: id, body, refusal });
}

function factsPart(services: OpsCatalogueServices, asked: OpsRequest, { model }: ShownModel): Html {
  const { formats } = asked.request;
  const tokens = (count: number) => TEXTS.tokens(formats.count(count));
  const usual = model.defaultOutputTokens ?? model.maxOutputTokens;
  return section({
    id: 'facts',
    heading: TEXTS.facts,
    body: [
      definitionList([
        [TEXTS.state, stateOf(services, model) ?? TEXTS.served],
        [TEXTS.resale, TEXTS.resales[model.resale]],
        [TEXTS.context, tokens(model.contextTokens)],
        [TEXTS.output, tokens(model.maxOutputTokens)],
        [TEXTS.usual, tokens(usual)],
        [TEXTS.timeout, TEXTS.seconds(model.timeoutMs)],
      ]),
      row(
        buttonLink(opsPath('price', { id: model.id }), TEXTS.changePrice, 'quiet'),
        buttonLink(opsPath('model-edit', { id: model.id }), TEXTS.edit, 'quiet'),
      ),
    ],
  });
}

function upstreamsPart(services: OpsCatalogueServices, asked: OpsRequest, { model }: ShownModel): Html {
  const reports = services.operator.readUpstreams();
  const amount = amountIn(asked, services);
  const rows = upstreamsOf(model).map((upstream) => {
    const { provider, providerModel } = upstream;
    const price = priceCells(model, upstream, services.clock.nowMs(), amount);
    const own = reports.filter((one) => one.provider === provider && one.providerModel === providerModel);
    const fields = html`${hiddenField('model', providerModel)}
${button(TEXTS.test, { kind: 'quiet', label: TEXTS.testOf(`${provider}/${providerModel}`) })}`;
    return [
      html`<a href="${opsPath('provider', { name: provider })}">${provider}</a>`,
      providerModel,
      price.input,
      price.output,
      price.margin,
      healthBadge(own),
      asked.may('provider-test')
        ? asked.form('provider-test', fields, { query: `name=${encodeURIComponent(provider)}` })
        : '',
    ];
  });
  return section({
    id: 'upstreams',
    heading: TEXTS.upstreams,
    body: [
      table({
        caption: html`<span class="soft">${CATALOGUE_TEXTS.perMillion}</span>`,
        columns: TEXTS.upstreamColumns.map((name, at) => ({ name, isNumeric: at > 1 && at < 5 })),
        rows,
        empty: '',
      }),
    ],
  });
}

function costsPart(services: OpsCatalogueServices, asked: OpsRequest, model: CatalogueModel): Html {
  const amount = amountIn(asked, services);
  const rows = effectOf(undefined, model, services.clock.nowMs()).flatMap(({ provider, providerModel, after }) =>
    after === undefined
      ? []
      : [
          [
            `${provider}/${providerModel}`,
            ...[after.hold, after.charge, after.cost, after.margin].map((micros) => amount(micros)),
          ],
        ],
  );
  return section({
    id: 'costs',
    heading: TEXTS.costs,
    body: [
      table({
        caption: html`<span class="soft">${sampleWords(asked)}</span>`,
        columns: TEXTS.costColumns.map((name, at) => ({ name, isNumeric: at > 0 })),
        rows,
        empty: '',
      }),
    ],
  });
}

function usedPart(
  services: OpsCatalogueServices,
  { role, request: { formats } }: OpsRequest,
  used: Awaited<ReturnType<typeof usedBy>>,
  names: AppNames,
): Html {
  return section({
    id: 'used',
    heading: TEXTS.used,
    body: [
      table({
        caption: html`<span class="soft">${TEXTS.usedMost}</span>`,
        columns: TEXTS.usedColumns.map((name, at) => ({ name, isNumeric: at > 0 })),
        rows: used.map(({ appId, calls, charged }) => [
          appLink(role, appId, names),
          formats.count(calls),
          formats.amount(charged, services.currency),
        ]),
        empty: TEXTS.notUsed,
      }),
    ],
  });
}

function removePart(asked: OpsRequest, { model, file, version }: ShownModel, apps: number): Html | undefined {
  if (!asked.may('model-delete')) return undefined;
  const hasAlias = Object.values(file.aliases).includes(model.id);
  const fields = html`${actFields(version, { of: '-remove' })}\n${button(TEXTS.remove, { kind: 'danger' })}`;
  const form = asked.form('model-delete', fields, { query: `id=${encodeURIComponent(model.id)}` });
  return section({
    id: 'remove',
    heading: TEXTS.remove,
    body: [
      hasAlias
        ? html`<p>${TEXTS.removeFirst}</p>`
        : confirmation({ act: TEXTS.remove, what: TEXTS.removeWhat(apps), form }),
    ],
  });
}

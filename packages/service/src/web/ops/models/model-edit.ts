import { html } from '#kernel/text/html.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { button } from '#web/components/button.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { textArea } from '#web/fields/text-area.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { type Saving, saveModel, showPreview } from '#web/ops/models/model-preview.ts';
import { actFields, actIn } from '#web/ops/catalogue/parts.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS, EDIT_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/** What a new entry needs at least. It is reserved until somebody opens it, as proprietary families must stay (MO-04). */
const TEMPLATE = {
  id: 'vendor.model-1',
  provider: 'vendor',
  providerModel: 'model-1',
  resale: 'reserved',
  enabled: false,
  price: { inputMicrosPerMillion: 1_000_000, outputMicrosPerMillion: 4_000_000 },
  marginBasisPoints: 0,
  contextTokens: 128_000,
  maxOutputTokens: 8_000,
};

interface Typed {
  readonly entry: string;
  readonly reason: string;
  readonly version: bigint;
}

/**
 * Makes the page `/ops/model-edit?id=`, which shows one entry as JSON. Without an id, it is a new entry, of the
 * provider that `provider` names. A first press shows what the change does, the second saves it.
 */
export function modelEditPage(services: OpsCatalogueServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { file, version } = await services.operator.catalogue.read();
      const id = asked.request.query.get('id') ?? '';
      const model = file.models.find((one) => one.id === id);
      if (model === undefined && id !== '') return redirectTo(opsPath('model', { id }));
      const provider = asked.request.query.get('provider') ?? '';
      const fresh = Object.hasOwn(file.providers, provider)
        ? { ...TEMPLATE, id: `${provider}.model-1`, provider }
        : TEMPLATE;
      return showEdit(services, asked, { entry: jsonOf(model ?? fresh), reason: '', version });
    },
    POST: async (asked, form) => {
      const id = asked.request.query.get('id') ?? '';
      const entry = form.field('entry');
      const again = async (refusal: Refusal): Promise<PageResponse> => {
        const { version } = await services.operator.catalogue.read();
        return showEdit(services, asked, { entry, reason: form.field('reason'), version }, refusal);
      };
      const given = actIn(asked, form);
      if (given instanceof Refusal) return again(given);
      const parsed = entryIn(entry, id);
      if (parsed instanceof Refusal) return again(parsed);
      const saving: Saving = { ...given, id: parsed.id, entry: parsed.entry, isNew: id === '' };
      const done =
        form.field('confirm') === '' ? await showPreview(services, asked, saving) : await saveModel(services, saving);
      return done instanceof Refusal ? again(done) : done;
    },
  });
}

function entryIn(
  text: string,
  id: string,
): { readonly id: string; readonly entry: JsonObject } | Refusal<'BAD_REQUEST'> {
  const entry = parseJson(text);
  if (!isJsonObject(entry)) return refuse('BAD_REQUEST', TEXTS.notJson);
  const named = entry['id'] ?? id;
  if (typeof named !== 'string' || named === '') return refuse('BAD_REQUEST', TEXTS.noId);
  return id !== '' && named !== id ? refuse('BAD_REQUEST', TEXTS.otherId) : { id: named, entry };
}

function jsonOf(entry: object): string {
  return JSON.stringify(entry, undefined, 2);
}

function showEdit(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  { entry, reason, version }: Typed,
  refusal?: Refusal,
): PageResponse {
  const id = asked.request.query.get('id') ?? '';
  const fields = html`${textArea({ name: 'entry', label: TEXTS.entry, value: entry, hint: TEXTS.entryHint, isInvalid: refusal !== undefined, rows: 24 })}
${actFields(version, { typed: reason })}
${button(TEXTS.show)}`;
  const query = id === '' ? '' : `id=${encodeURIComponent(id)}`;
  const body = html`${errorSummary(refusal?.message)}
${card(asked.form('model-edit', fields, { query }))}
${linkLine(id === '' ? opsPath('catalogue') : opsPath('model', { id }), TEXTS.back)}`;
  const title = id === '' ? TEXTS.newTitle : TEXTS.title(id);
  return showOpsPage(services, asked, { title, body, page: 'catalogue', above: CATALOGUE_TEXTS.title, refusal });
}

import type { CatalogueModel } from '@purser/contract/catalogue.ts';
import { granted } from '#http/planes/planes.ts';
import { html } from '#kernel/text/html.ts';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { button, card, linkLine } from '#web/components/parts.ts';
import { textArea } from '#web/fields/fields.ts';
import { redirectTo } from '#web/frame/page.ts';
import { actPage } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { opsPath } from '#web/ops/frame/details.ts';
import { changeFields, changeIn, type GivenChange, showUnsaved } from '#web/ops/catalogue/changes.ts';
import { concernedApps, effectPart } from '#web/ops/catalogue/effect-part.ts';
import { EDIT_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

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

/**
 * The page `/ops/model-edit?id=`, which shows one entry as JSON. Without an id, it is a new entry, of the
 * provider that `provider` names. A first press shows what the change does, the second saves it.
 */
export const modelEditPage = actPage({
  show: async (asked, again) => {
    const [id, provider] = [asked.asks('id'), asked.asks('provider')];
    const { file, version } = await asked.operator.catalogue.read();
    const model = file.models.find((one) => one.id === id);
    const refusal = again?.refusal;
    if (model === undefined && id !== '' && refusal === undefined) return redirectTo(opsPath('model', { id }));
    const own = Object.hasOwn(file.providers, provider) ? { id: `${provider}.model-1`, provider } : {};
    const value = again?.form.field('entry') ?? JSON.stringify(model ?? { ...TEMPLATE, ...own }, undefined, 2);
    const isInvalid = refusal !== undefined;
    const fields = html`${textArea({ name: 'entry', label: TEXTS.entry, value, hint: TEXTS.entryHint, isInvalid, rows: 24 })}
${changeFields(version, { typed: again?.form.field('reason') ?? '' })}
${button(TEXTS.show)}`;
    const body = html`${card(asked.form('model-edit', fields, { query: { id } }))}
${linkLine(backFrom(id), TEXTS.back)}`;
    return asked.show({ title: titleOf(id), body, below: 'catalogue', refusal });
  },
  act: async (asked, form) => {
    const id = asked.asks('id');
    const given = changeIn(asked, form);
    const parsed = granted(entryIn(form.field('entry'), id));
    if (form.field('confirm') === '') return showChange(asked, { ...given, ...parsed, isNew: id === '' });
    const change = { kind: 'model', name: parsed.id, entry: parsed.entry } as const;
    granted(await asked.operator.catalogue.change(given.act, change, given.version));
    return opsPath('model', { id: parsed.id, done: 'saved' });
  },
});

function titleOf(id: string): string {
  return id === '' ? 'Add a model' : `Change ${id}`;
}

function backFrom(id: string): string {
  return id === '' ? opsPath('catalogue') : opsPath('model', { id });
}

function entryIn(text: string, id: string) {
  const entry = parseJson(text);
  if (!isJsonObject(entry)) return refuse('BAD_REQUEST', 'The entry is not valid JSON.');
  const named = entry['id'] ?? id;
  if (typeof named !== 'string' || named === '') return refuse('BAD_REQUEST', TEXTS.noId);
  return id !== '' && named !== id ? refuse('BAD_REQUEST', TEXTS.otherId) : { id: named, entry };
}

/** An entry on its way into the catalogue. */
interface Saving extends GivenChange {
  readonly id: string;
  readonly entry: object;
  readonly isNew: boolean;
}

/** Shows what saving an entry would do, with the form that saves it. It is refused like the saving itself. */
export async function showChange(asked: OpsRequest, { id, entry, isNew, act, version }: Saving) {
  const seen = granted(await asked.operator.catalogue.preview({ kind: 'model', name: id, entry }, version));
  const find = (models: readonly CatalogueModel[]) => models.find((model) => model.id === id);
  const [before, after] = [find(seen.before.models), find(seen.after.models)];
  if (isNew && before !== undefined) return refuse('CONFLICT', TEXTS.exists);
  const known = isNew ? '' : id;
  const values = { entry: JSON.stringify(entry), version: version.toString(), reason: act.reason ?? '' };
  return showUnsaved(asked, {
    title: titleOf(known),
    effect: effectPart(asked, { before, after }),
    beside: [await concernedApps(asked, [id])],
    form: { page: 'model-edit', query: { id: known }, values },
    save: TEXTS.save,
    back: backFrom(known),
  });
}

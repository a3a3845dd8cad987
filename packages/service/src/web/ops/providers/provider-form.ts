import type { CatalogueProvider } from '@purser/contract/catalogue-providers.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import { section } from '#web/components/section.ts';
import { textArea } from '#web/fields/text-area.ts';
import { textField } from '#web/fields/text-field.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { actFields } from '#web/ops/catalogue/parts.ts';
import { EDIT_TEXTS, PROVIDER_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/** The form of a provider as it was typed. */
export interface TypedProvider {
  /** The name that was typed for a new provider. */
  readonly name: string;
  readonly entry: string;
  readonly keyAgain: string;
  readonly reason: string;
}

interface Changed {
  readonly name: string;
  /** The provider as it is in the catalogue. It is undefined for a new one. */
  readonly provider: CatalogueProvider | undefined;
  readonly version: bigint;
  readonly typed: TypedProvider | undefined;
}

const TEMPLATE = { kind: 'openai-compatible', baseUrl: 'https://api.vendor.example/v1', apiKey: 'vendor' };

/** The form that changes a provider or adds one. */
export function changePart(asked: OpsRequest, { name, provider, version, typed }: Changed): Html | undefined {
  if (!asked.may('provider')) return undefined;
  const entry = typed?.entry ?? JSON.stringify(provider ?? TEMPLATE, undefined, 2);
  const isNew = provider === undefined;
  const nameField = textField({
    name: 'name',
    label: TEXTS.name,
    value: typed?.name ?? '',
    lengthMax: 128,
    isRequired: true,
  });
  const again = textField({
    name: 'keyAgain',
    label: TEXTS.again,
    value: typed?.keyAgain ?? '',
    hint: TEXTS.againHint,
    autocomplete: 'off',
    lengthMax: 4_000,
  });
  const fields = html`${isNew ? nameField : undefined}
${textArea({ name: 'entry', label: TEXTS.entry, value: entry, hint: TEXTS.entryHint, rows: 10 })}
${isNew ? undefined : again}
${actFields(version, { typed: typed?.reason ?? '' })}
${button(EDIT_TEXTS.show)}`;
  const query = isNew ? '' : `name=${encodeURIComponent(name)}`;
  const heading = isNew ? TEXTS.newTitle : TEXTS.change;
  return section({ id: 'change', heading, body: [asked.form('provider', fields, { query })] });
}

import { granted } from '#http/planes/planes.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { Act } from '#operator/acts/act.ts';
import { confirmation } from '#web/components/notices.ts';
import { badge, button, card, linkLine } from '#web/components/parts.ts';
import type { Form } from '#web/forms/form.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { type Again, actPage, hiddenFields, reasonField, reasonIn } from '#web/ops/frame/act-page.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { opsPath, part, type Query } from '#web/ops/frame/details.ts';
import { EDIT_TEXTS, MODEL_TEXTS } from '#web/ops/catalogue/texts.ts';

/**
 * What the form of an act has besides: the version that the page shows, and the field for the reason. `of` tells it from that of
 * other forms on the page.
 */
export function changeFields(version: bigint, { typed = '', of = '' } = {}): Html {
  const { reason: label, reasonHint: hint } = MODEL_TEXTS;
  return html`${hiddenFields({ version: version.toString(), of })}${reasonField({ name: `reason${of}`, label, hint, value: typed })}`;
}

/** Who acts, why, and the version of the catalogue that they saw. */
export interface GivenChange {
  readonly act: Act;
  readonly version: bigint;
}

/** What every form of a change has. Ends the act without a reason, which the audit trail needs. */
export function changeIn(asked: OpsRequest, form: Form): GivenChange {
  const reason = reasonIn(form, 'Give a reason of at most 500 characters.', `reason${form.field('of')}`);
  const version = form.field('version');
  // A form without a version is one that no page of ours made: none is as old as zero.
  return { act: asked.act(reason), version: /^\d{1,18}$/.test(version) ? BigInt(version) : 0n };
}

export function unsavedBadge(): Html {
  return html`<p>${badge('Nothing has been saved yet.', 'warn')}</p>`;
}

interface Unsaved {
  readonly title: string;
  /** What the change does. */
  readonly effect?: Html;
  /** What stands above the button that saves it. */
  readonly beside: readonly (Html | undefined)[];
  /** The form that saves it: the page, its address, and what it sends with the second press. */
  readonly form: { readonly page: string; readonly query: Query; readonly values: Readonly<Record<string, string>> };
  readonly save: string;
  /** Where the way back without saving leads. */
  readonly back: string;
}

/** Shows what a change does before it is made. Its form makes the change. */
export function showUnsaved(asked: OpsRequest, { title, effect, beside, form, save, back }: Unsaved): PageResponse {
  const fields = html`${hiddenFields({ ...form.values, confirm: 'yes' })}${button(save)}`;
  const body = html`${unsavedBadge()}
${effect}
${card(...beside, asked.form(form.page, fields, { query: form.query }))}
${linkLine(back, EDIT_TEXTS.back)}`;
  return asked.show({ title, body, below: 'catalogue' });
}

/** A model or a provider that can be removed: what it is called in the catalogue, and in the address of its page. */
interface Removable {
  readonly kind: 'model' | 'provider';
  readonly field: 'id' | 'name';
}

/** The form `/ops/model-delete` or `/ops/provider-delete`, which removes what the address names. `show`: the page that has the form. */
export function removalForm(
  { kind, field }: Removable,
  show: (asked: OpsRequest, again?: Again) => Promise<PageResponse>,
): OpsPage {
  return actPage({
    formPage: opsPath(kind),
    show,
    act: async (asked, form) => {
      const name = asked.asks(field);
      if (name === '') return opsPath('catalogue');
      const given = changeIn(asked, form);
      const change = { kind, name, entry: undefined } as const;
      granted(await asked.operator.catalogue.change(given.act, change, given.version));
      return opsPath('catalogue', { done: `${kind}-gone` });
    },
  });
}

interface Removal extends Removable {
  readonly name: string;
  readonly version: bigint;
  readonly title: string;
  readonly what: string;
  /** What has to be done first. It is undefined if nothing has. */
  readonly first: string | undefined;
}

/** The part of a page with that form. */
export function removalPart(asked: OpsRequest, removal: Removal): Html | undefined {
  const { kind, field, name, version, title, what, first } = removal;
  const page = `${kind}-delete`;
  if (!asked.may(page)) return undefined;
  const fields = html`${changeFields(version, { of: '-remove' })}\n${button(title, { kind: 'danger' })}`;
  const form = asked.form(page, fields, { query: { [field]: name } });
  return part('remove', title, first === undefined ? confirmation({ act: title, what, form }) : html`<p>${first}</p>`);
}

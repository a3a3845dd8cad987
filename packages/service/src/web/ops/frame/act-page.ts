import { reason as reasonSchema } from '@purser/contract/operator.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refused } from '#http/answers/refused.ts';
import { granted } from '#http/planes/planes.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { hiddenField, textField } from '#web/fields/fields.ts';
import type { Form } from '#web/forms/form.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { OPS_TEXTS } from '#web/ops/frame/texts.ts';

/** A form that was sent and refused. The page shows why, and what was typed. */
export interface Again {
  readonly refusal: Refusal;
  readonly form: Form;
}

interface ActPage extends Omit<OpsPage, 'GET' | 'POST'> {
  /** The page, with what the act will do if it can be told. `again`: the form was sent, and nothing was done. */
  readonly show: (asked: OpsRequest, again?: Again) => Promise<PageResponse> | PageResponse;
  /** Does the act, and says where to go then. It may also answer with a page, such as one that asks once more. */
  readonly act: (asked: OpsRequest, form: Form) => Promise<string | PageResponse | Refusal>;
  /** Its form is on another page, so this one cannot be opened. */
  readonly formPage?: string;
}

/** A page with the form of an act. A refused act shows the page again; like the handler of a route, it may end through `granted`. */
export function actPage({ show, act, ...page }: ActPage): OpsPage {
  return {
    ...page,
    ...(page.formPage === undefined ? { GET: (asked) => show(asked) } : {}),
    POST: async (asked, form) => {
      try {
        const done = granted(await act(asked, form));
        return typeof done === 'string' ? redirectTo(done) : done;
      } catch (fault) {
        if (fault instanceof Refused) return show(asked, { refusal: fault.refusal, form });
        throw fault;
      }
    },
  };
}

/** The reason that was typed. `otherwise`: what the page says if there is none, or one that is too long, which ends the act. */
export function reasonIn(form: Form, otherwise: string, name = 'reason'): string {
  const given = reasonSchema.safeParse(form.field(name));
  return granted(given.success ? given.data : refuse('BAD_REQUEST', otherwise));
}

const REASON_LENGTH_MAX = 500;

interface ReasonField {
  /** Of several forms on a page, each has a reason of its own, so that no id is there twice. */
  readonly name?: string;
  readonly label?: string;
  readonly hint?: string;
  readonly value?: string | undefined;
  readonly autocomplete?: 'off';
}

/** Why somebody acts, which the audit trail keeps. */
export function reasonField({
  name = 'reason',
  label = OPS_TEXTS.reason,
  value = '',
  ...more
}: ReasonField = {}): Html {
  return textField({ name, label, value, lengthMax: REASON_LENGTH_MAX, isRequired: true, ...more });
}

/** Values that a form carries to the next step. */
export function hiddenFields(values: Readonly<Record<string, string>>): Html {
  return html`${Object.entries(values).map(([name, value]) => html`${hiddenField(name, value)}\n`)}`;
}

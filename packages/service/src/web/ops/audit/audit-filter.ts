import { dateOf, epochMsOf } from '#kernel/time/clock.ts';
import { parseId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { EntryFilter } from '#operator/look-up/audit-trail.ts';
import { parseAmount } from '#web/format/typed-amount.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import type { Fields, Typed } from '#web/ops/frame/list-page.ts';
import { AUDIT_TEXTS as TEXTS } from '#web/ops/audit/texts.ts';

type Name = keyof typeof TEXTS.fields;

const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/;
const ACTION = /^[a-z_-]+(\.[a-z_-]+)*$/;

export function auditFields({ currency }: OpsRequest): Fields<Name> {
  const { from, to, amountFrom, amountTo, ...texts } = TEXTS.fields;
  const amount = (label: string) => ({ label: label.replace('%', currency) });
  return {
    who: { label: texts.who },
    action: { label: texts.action },
    subject: { label: texts.subject },
    app: { label: texts.app },
    amountFrom: amount(amountFrom),
    amountTo: amount(amountTo),
    from: { label: from, type: 'datetime-local' },
    to: { label: to, type: 'datetime-local' },
  };
}

/** The filter that was typed, or why it is none. */
export function filterOf(typed: Typed<Name>): EntryFilter | Refusal<'BAD_REQUEST'> {
  const { who, action, subject } = typed;
  const app = typed.app === '' ? undefined : parseId('app', typed.app);
  if (typed.app !== '' && app === undefined) return refuse('BAD_REQUEST', TEXTS.notAnApp);
  if (action !== '' && !ACTION.test(action)) return refuse('BAD_REQUEST', TEXTS.notAnAction);
  const [from, to] = [momentOf(typed.from), momentOf(typed.to)];
  if (from === 'unfit' || to === 'unfit') return refuse('BAD_REQUEST', TEXTS.notAMoment);
  const [amountFrom, amountTo] = [amountOf(typed.amountFrom), amountOf(typed.amountTo)];
  if (amountFrom === 'unfit' || amountTo === 'unfit') return refuse('BAD_REQUEST', TEXTS.notAnAmount);
  const texts = { who: who || undefined, action: action || undefined, subject: subject || undefined };
  return { ...texts, appId: app, from, to, amountFrom, amountTo };
}

function momentOf(text: string): Date | 'unfit' | undefined {
  if (text === '') return undefined;
  const ms = MINUTE.test(text) ? epochMsOf(`${text}Z`) : Number.NaN;
  return Number.isNaN(ms) ? 'unfit' : dateOf(ms);
}

function amountOf(text: string): Micros | 'unfit' | undefined {
  return text === '' ? undefined : (parseAmount(text) ?? 'unfit');
}

import { dateOf, epochMsOf } from '#kernel/time/clock.ts';
import type { Html } from '#kernel/text/html.ts';
import { parseId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { EntryFilter } from '#operator/look-up/audit-search.ts';
import { filterForm } from '#web/fields/filter.ts';
import { parseAmount } from '#web/format/typed-amount.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { AUDIT_TEXTS as TEXTS } from '#web/ops/audit/texts.ts';

const NAMES = ['who', 'action', 'subject', 'app', 'amountFrom', 'amountTo', 'from', 'to'] as const;

/** What was typed into the filter, by the names of its fields. If all are empty, everything is shown. */
export type Typed = Readonly<Record<(typeof NAMES)[number], string>>;

const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/;
const ACTION = /^[a-z_-]+(\.[a-z_-]+)*$/;

export function typedFilter(query: URLSearchParams): Typed {
  const typed = NAMES.map((name) => [name, query.get(name)?.trim() ?? '']);
  return Object.fromEntries(typed) as Typed;
}

/** The filter that was typed, or why it is none. */
export function filterOf(typed: Typed): EntryFilter | Refusal<'BAD_REQUEST'> {
  const { who, action, subject } = typed;
  const app = typed.app === '' ? undefined : parseId('app', typed.app);
  if (typed.app !== '' && app === undefined) return refuse('BAD_REQUEST', TEXTS.notAnApp);
  if (action !== '' && !ACTION.test(action)) return refuse('BAD_REQUEST', TEXTS.notAnAction);
  const [from, to] = [momentOf(typed.from), momentOf(typed.to)];
  if (from === 'unfit' || to === 'unfit') return refuse('BAD_REQUEST', TEXTS.notAMoment);
  const [amountFrom, amountTo] = [amountOf(typed.amountFrom), amountOf(typed.amountTo)];
  if (amountFrom === 'unfit' || amountTo === 'unfit') return refuse('BAD_REQUEST', TEXTS.notAnAmount);
  return {
    who: who || undefined,
    action: action || undefined,
    subject: subject || undefined,
    appId: app,
    from,
    to,
    amountFrom,
    amountTo,
  };
}

function momentOf(text: string): Date | 'unfit' | undefined {
  if (text === '') return undefined;
  const ms = MINUTE.test(text) ? epochMsOf(`${text}Z`) : Number.NaN;
  return Number.isNaN(ms) ? 'unfit' : dateOf(ms);
}

function amountOf(text: string): Micros | 'unfit' | undefined {
  return text === '' ? undefined : (parseAmount(text) ?? 'unfit');
}

export function auditFilterForm(typed: Typed, currency: string): Html {
  const label = (name: (typeof NAMES)[number]) => TEXTS.fields[name].replace('%', currency);
  return filterForm(
    opsPath('audit'),
    'live',
    NAMES.map((name) => ({
      name,
      label: label(name),
      value: typed[name],
      ...(name === 'from' || name === 'to' ? { type: 'datetime-local' as const } : {}),
    })),
  );
}

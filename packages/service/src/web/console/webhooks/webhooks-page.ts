import { EVENT_TYPES, putWebhookSchema, testEventSchema } from '@purser/contract/webhooks.ts';
import type { ListenToken } from '#developers/teams/listen-token.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Subscription } from '#webhooks/subscriptions/subscription.ts';
import type { SentTest } from '#webhooks/subscriptions/test-event.ts';
import { errorSummary, successNotice, warningNotice } from '#web/components/notices.ts';
import { button, section } from '#web/components/parts.ts';
import { type AppRequest, forApp, showAppPage } from '#web/console/frame/app-page.ts';
import { deliveriesList } from '#web/console/webhooks/deliveries-list.ts';
import { EVENT_TEXTS, WEBHOOKS_TEXTS as TEXTS } from '#web/console/webhooks/texts.ts';
import {
  listenPart,
  removePart,
  secretNotice,
  secretPart,
  sentNotice,
  statusPart,
  testPart,
  tokenNotice,
} from '#web/console/webhooks/webhook-parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { checked, type Form, withFieldLabels } from '#web/forms/form.ts';
import { type Micros, micros, microsToWire } from '#kernel/values/micros.ts';
import { amountField, checkboxField, textField } from '#web/fields/fields.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';

/** Shows at `/console/:part/webhooks` the endpoint of the app, tests of it, and what was sent to it. */
export const webhooksPage = forApp({
  GET: (asked) => show(asked, {}),
  POST: (asked, form) => ACTS.get(form.field('act'))?.(asked, form) ?? redirectTo(asked.to('webhooks')),
});

/** What the buttons of the page do. */
const ACTS: ReadonlyMap<string, (asked: AppRequest, form: Form) => Promise<PageResponse>> = new Map([
  ['put', put],
  ['secret', rotate],
  ['test', sendTest],
  ['token', makeToken],
  ['revoke', revokeToken],
  ['remove', remove],
]);

/** What a form has just done, or why not. */
interface Done {
  readonly typed?: Typed;
  readonly refusal?: Refusal | undefined;
  /** The secret, which is shown by the answer that makes it, and never again (WH-01). */
  readonly secret?: string;
  /** The token of `purser listen`, which is shown by the answer that makes it, and never again. */
  readonly token?: string;
  readonly sent?: SentTest;
}

async function put(asked: AppRequest, form: Form): Promise<PageResponse> {
  const typed = readTyped(form);
  const wanted = wantedOf(typed);
  if (wanted instanceof Refusal) return show(asked, { typed, refusal: wanted });
  const stored = await asked.services.subscriptions.put(asked.owner, { appId: asked.app.appId, ...wanted });
  if (stored instanceof Refusal) return show(asked, { typed, refusal: withFieldLabels(stored, NAMES) });
  const { signingSecret: secret } = stored;
  return secret === undefined ? redirectTo(asked.to('webhooks', { done: 'saved' })) : show(asked, { secret });
}

async function rotate(asked: AppRequest): Promise<PageResponse> {
  const made = await asked.services.subscriptions.rotate(asked.owner, asked.app.appId);
  return made === undefined ? redirectTo(asked.to('webhooks')) : show(asked, { secret: made.signingSecret });
}

async function sendTest(asked: AppRequest, form: Form): Promise<PageResponse> {
  const { data } = testEventSchema.safeParse({ type: form.field('type') });
  if (data === undefined) {
    return show(asked, { refusal: refuse('BAD_REQUEST', TEXTS.typeFault(EVENT_TYPES.join(', '))) });
  }
  const sent = await asked.services.sendTestEvent(asked.owner, asked.app.appId, data.type);
  return show(asked, sent instanceof Refusal ? { refusal: sent } : { sent });
}

async function makeToken(asked: AppRequest): Promise<PageResponse> {
  const made = await asked.services.listenTokens.make(asked.owner, asked.signedIn, asked.app.appId);
  return show(asked, made instanceof Refusal ? { refusal: made } : { token: made.text });
}

async function revokeToken(asked: AppRequest, form: Form): Promise<PageResponse> {
  await asked.services.listenTokens.revoke(asked.owner, asked.app.appId, form.field('token'));
  return redirectTo(asked.to('webhooks', { done: 'revoked' }));
}

async function remove(asked: AppRequest): Promise<PageResponse> {
  await asked.services.subscriptions.remove(asked.owner, asked.app.appId);
  return redirectTo(asked.to('webhooks', { done: 'removed' }));
}

async function show(asked: AppRequest, done: Done): Promise<PageResponse> {
  const { services, request, app, mode } = asked;
  const [subscription, deliveries, tokens] = await Promise.all([
    services.subscriptions.find(app.appId),
    deliveriesList(asked),
    asked.may('webhooks') ? services.listenTokens.list(app.appId) : [],
  ]);
  const refusal = done.refusal ?? (deliveries instanceof Refusal ? deliveries : undefined);
  const test = asked.may('webhooks') ? testPart(asked, done.sent?.type ?? subscription?.events[0]) : undefined;
  const body = html`${errorSummary(refusal?.message)}${successNotice(TEXTS.done.get(request.query.get('done')))}
${done.sent === undefined ? undefined : sentNotice(done.sent)}
${done.secret === undefined ? undefined : secretNotice(done.secret)}
${done.token === undefined ? undefined : tokenNotice(asked, services.publicUrl, done.token)}
${subscription?.status === 'disabled' ? warningNotice(TEXTS.disabled) : undefined}
<p class="soft">${TEXTS.what}${mode === 'sandbox' ? ` ${TEXTS.noSandbox}` : ''}</p>
${subscription === undefined ? undefined : statusPart(subscription)}
${subscription === undefined ? undefined : test}
${subscription === undefined ? undefined : sectionOf(deliveries)}
${partsOf(asked, { subscription, tokens, ...done })}
${subscription === undefined ? html`${test}${sectionOf(deliveries)}` : undefined}`;
  return showAppPage(asked, { title: TEXTS.title, body, page: 'webhooks', refusal });
}

function sectionOf(deliveries: Html | Refusal): Html | undefined {
  if (deliveries instanceof Refusal) return undefined;
  return section({ id: 'deliveries', heading: TEXTS.deliveries, body: [deliveries] });
}

interface Shown {
  readonly subscription: Subscription | undefined;
  readonly tokens: readonly ListenToken[];
}

function partsOf(
  asked: AppRequest,
  { subscription, tokens, typed = typedOf(subscription), refusal }: Done & Shown,
): Html {
  const { services, request, to } = asked;
  if (!asked.may('webhooks')) return html`${asked.tooLow()}`;
  const actions = { active: TEXTS.save, disabled: TEXTS.enable };
  const action = subscription === undefined ? TEXTS.subscribe : actions[subscription.status];
  const fields = endpointFields(typed, { currency: services.currency, action, refusal });
  const endpoint = section({ id: 'endpoint', heading: TEXTS.endpoint, body: [request.form(to('webhooks'), fields)] });
  const local = listenPart(asked, services.publicUrl, tokens);
  if (subscription === undefined) return html`<div class="columns">${endpoint}${local}</div>`;
  return html`<div class="columns">
<div>${endpoint}</div>
<div>${secretPart(asked)}${local}${removePart(asked)}</div>
</div>`;
}

/** The fields as they are typed. */
interface Typed {
  readonly endpointUrl: string;
  readonly events: readonly string[];
  readonly threshold: string;
}

/** What the page calls the fields of the route. */
const NAMES = { endpointUrl: TEXTS.url, events: TEXTS.events, lowBalanceThresholdMicros: 'Threshold' };

/** What the form shows at first: the subscription, or all events for an app that has none. */
function typedOf(subscription: Subscription | undefined): Typed {
  if (subscription === undefined) return { endpointUrl: '', events: EVENT_TYPES, threshold: '1.00' };
  const { endpointUrl, events, threshold } = subscription;
  return { endpointUrl, events, threshold: threshold === undefined ? '' : amountText(threshold) };
}

function readTyped(form: Form): Typed {
  return {
    endpointUrl: form.field('endpointUrl').trim(),
    events: EVENT_TYPES.filter((type) => form.field(type) !== ''),
    threshold: form.field('threshold').trim(),
  };
}

/** What the route would be sent. A threshold without `balance.low` is left out: the field is always on the page. */
function wantedOf({ endpointUrl, events, threshold }: Typed) {
  const wantsLow = events.includes('balance.low');
  const amount = wantsLow && threshold !== '' ? parseAmount(threshold) : undefined;
  if (wantsLow && threshold !== '' && amount === undefined) return refuse('BAD_REQUEST', TEXTS.thresholdFault);
  const low = amount === undefined ? {} : { lowBalanceThresholdMicros: microsToWire(amount) };
  const given = checked(putWebhookSchema, { endpointUrl, events, ...low }, NAMES);
  if (given instanceof Refusal) return given;
  const { lowBalanceThresholdMicros: most } = given;
  const limit: Micros | undefined = typeof most === 'number' ? micros(BigInt(most)) : undefined;
  return { endpointUrl: given.endpointUrl, events: given.events, threshold: limit };
}

function endpointFields(
  { endpointUrl, events, threshold }: Typed,
  {
    currency,
    action,
    refusal,
  }: { readonly currency: string; readonly action: string; readonly refusal: Refusal | undefined },
): Html {
  return html`${textField({
    name: 'endpointUrl',
    label: TEXTS.url,
    value: endpointUrl,
    hint: TEXTS.urlHint,
    autocomplete: 'off',
    lengthMax: 2_048,
    isRequired: true,
    isInvalid: refusal?.detail.param === 'endpointUrl',
  })}
<p><strong>${TEXTS.events}</strong></p>
${EVENT_TYPES.map((type) => html`${checkboxField({ name: type, label: EVENT_TEXTS[type], value: 'yes', isChecked: events.includes(type) })}\n`)}
${amountField({ name: 'threshold', label: TEXTS.threshold(currency), text: threshold })}
${button(action, { name: 'act', value: 'put' })}`;
}

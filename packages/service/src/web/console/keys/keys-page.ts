import { newKeySchema } from '@purser/contract/keys.ts';
import type { ApiKey } from '#developers/keys/api-key.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, card, section } from '#web/components/parts.ts';
import { moment, table } from '#web/figures/figures.ts';
import { checked, keyIdOnce, onceField } from '#web/forms/form.ts';
import { textField } from '#web/fields/fields.ts';
import { type AppRequest, forApp, showAppPage, verifyFirst } from '#web/console/frame/app-page.ts';
import { changeTyped, NOTHING_TYPED, settingFields, typedIn, type TypedSettings } from '#web/console/keys/key-form.ts';
import { nameOf, showMinted, stateOf, toMadeBefore } from '#web/console/keys/key-parts.ts';
import { KEY_TEXTS, KEYS_TEXTS as TEXTS } from '#web/console/keys/texts.ts';
import type { PageResponse } from '#web/frame/page.ts';

const KEYS_A_PAGE = 25;

/** Shows at `/console/:part/keys` the keys of the mode that is shown, newest first, and the form for a new one. */
export const keysPage = forApp({
  GET: (asked) => showKeys(asked),
  POST: async (asked, form) => {
    const typed = typedIn(form);
    const user = form.field('user').trim();
    const refused = (refusal: Refusal) => showKeys(asked, { typed, user, refusal });
    const change = changeTyped(typed);
    if (change instanceof Refusal) return refused(change);
    const options = { mode: asked.mode, ...(user === '' ? {} : { userId: user }) };
    const given = checked(newKeySchema, options, { userId: TEXTS.user });
    if (given instanceof Refusal) return refused(given);
    const { mode, userId: boundUser } = given;
    const keyId = keyIdOnce(form, asked.app.appId);
    const key = { keyId, mode, boundUser, joinSeconds: undefined, ...change };
    const minted = await asked.services.apps.mintKey(asked.owner, asked.app.appId, key);
    if (!(minted instanceof Refusal)) return showMinted(asked, minted);
    const before = keyId === undefined ? undefined : await asked.services.apps.findKey(asked.app.appId, keyId);
    return before === undefined ? refused(minted) : toMadeBefore(asked, before.keyId);
  },
});

/** What was typed and why it was refused. */
interface Refused {
  readonly typed: TypedSettings;
  readonly user: string;
  readonly refusal: Refusal;
}

async function showKeys(asked: AppRequest, refused?: Refused): Promise<PageResponse> {
  const { services, request, app, mode, to } = asked;
  const all = (await services.apps.listKeys(app.appId)).filter((key) => key.mode === mode).toReversed();
  const after = all.findIndex(({ keyId }) => keyId === request.query.get('after')) + 1;
  const shown = all.slice(after, after + KEYS_A_PAGE);
  const next = all.length > after + shown.length ? shown.at(-1) : undefined;
  const body = html`${errorSummary(refused?.refusal.message)}
<p class="soft">${TEXTS.what}</p>
${card(
  table({
    caption: TEXTS.caption(mode),
    columns: TEXTS.columns.map((name) => ({ name })),
    rows: shown.map((key) => rowOf(asked, key)),
    empty: TEXTS.none,
  }),
  next && html`<p><a href="${to('keys', { after: next.keyId })}">${TEXTS.more}</a></p>`,
)}
${asked.may('keys') ? section({ id: 'new', heading: TEXTS.make, body: [verifyFirst(asked) ?? newKeyForm(asked, refused)] }) : asked.tooLow()}`;
  return showAppPage(asked, { title: TEXTS.title, body, page: 'keys', refusal: refused?.refusal });
}

function rowOf({ services, request, to, amountOf }: AppRequest, key: ApiKey): readonly (Html | string)[] {
  const { lastUsedAtMs } = key;
  return [
    html`<a href="${to('key', { id: key.keyId })}">${nameOf(key)}</a><br><code>${key.hint}</code>`,
    limitsOf(key, amountOf),
    lastUsedAtMs === undefined ? TEXTS.never : html`${moment(lastUsedAtMs, request.formats)}`,
    stateOf(key, services.clock.nowMs()),
  ];
}

function limitsOf({ settings, boundUser }: ApiKey, amountOf: AppRequest['amountOf']): string {
  const { models, addresses, perMinute, monthlyBudget } = settings;
  const limits = [
    boundUser,
    monthlyBudget === null ? undefined : KEY_TEXTS.budgetOf(amountOf(monthlyBudget)),
    perMinute === null ? undefined : KEY_TEXTS.perMinute(perMinute),
    models === null ? undefined : KEY_TEXTS.modelsOf(models.length),
    addresses === null ? undefined : KEY_TEXTS.addressesOf(addresses.length),
  ].filter((limit) => limit !== undefined);
  return limits.length === 0 ? TEXTS.noLimits : limits.join(', ');
}

function newKeyForm({ services: { currency }, request, to }: AppRequest, refused: Refused | undefined): Html {
  const typed = refused?.typed ?? NOTHING_TYPED;
  const user = textField({
    name: 'user',
    label: TEXTS.user,
    value: refused?.user ?? '',
    hint: TEXTS.userHint,
    lengthMax: 256,
  });
  return request.form(
    to('keys'),
    html`${onceField()}${settingFields(typed, currency, { isOpen: refused !== undefined, more: user })}\n${button(TEXTS.create)}`,
  );
}

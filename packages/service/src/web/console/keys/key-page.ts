import { rollKeySchema } from '@purser/contract/keys.ts';
import type { ApiKey } from '#developers/keys/api-key.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { parseId } from '#kernel/values/ids.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { moment } from '#web/figures/figures.ts';
import { lateIn, lateNotice } from '#web/frame/late-notice.ts';
import { confirmation, errorSummary, successNotice } from '#web/components/notices.ts';
import { button, definitionList, linkLine, section } from '#web/components/parts.ts';
import { selectField } from '#web/fields/fields.ts';
import { type AppRequest, forApp, showAppPage, showMissing, verifyFirst } from '#web/console/frame/app-page.ts';
import { changeTyped, settingFields, typedIn, typedOf, type TypedSettings } from '#web/console/keys/key-form.ts';
import { keyChart } from '#web/console/keys/key-chart.ts';
import { nameOf, showMinted, snippetsOf, stateOf, toMadeBefore } from '#web/console/keys/key-parts.ts';
import { KEY_TEXTS as TEXTS, KEYS_TEXTS } from '#web/console/keys/texts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { checked, type Form } from '#web/forms/form.ts';

const DEFAULT_OVERLAP = '86400';

/** Shows at `/console/:part/key?id=...` one key, its settings, the way to roll and to revoke it, and how to use it. */
export const keyPage = forApp({
  GET: async (asked) => {
    const key = await keyOf(asked);
    return key === undefined ? noSuchKey(asked) : showKey(asked, key);
  },
  POST: async (asked, form) => {
    const key = await keyOf(asked);
    return key === undefined ? noSuchKey(asked) : act(asked, { key, form });
  },
});

/** The key of the address. The page of the other mode has it not: the role was checked for the mode of the address. */
async function keyOf({ services: { apps }, request, app, mode }: AppRequest): Promise<ApiKey | undefined> {
  const keyId = parseId('key', request.query.get('id') ?? '');
  const key = keyId === undefined ? undefined : await apps.findKey(app.appId, keyId);
  return key?.mode === mode ? key : undefined;
}

/** Does what the button that was pressed says. Each does what a route does. */
async function act(
  asked: AppRequest,
  { key, form }: { readonly key: ApiKey; readonly form: Form },
): Promise<PageResponse> {
  const { services, owner, app, to } = asked;
  const { apps, whenEverywhere } = services;
  const { appId } = app;
  const { keyId } = key;
  switch (form.field('act')) {
    case 'revoke':
      await apps.revokeKey(owner, appId, keyId);
      return redirectTo(to('key', { id: keyId, done: 'revoked', ...lateIn(await whenEverywhere()) }));
    case 'roll': {
      // An empty field is no number. As 0 it would end the key at once.
      const overlapSeconds = form.field('overlap') === '' ? Number.NaN : Number(form.field('overlap'));
      const roll = checked(rollKeySchema, { overlapSeconds }, { overlapSeconds: TEXTS.overlap });
      if (roll instanceof Refusal) return showKey(asked, key, { refusal: roll });
      if (key.rolledTo !== undefined) return toMadeBefore(asked, key.rolledTo);
      const rolled = await apps.rollKey(owner, { appId, keyId }, roll);
      if (rolled === undefined) return noSuchKey(asked);
      return rolled instanceof Refusal
        ? showKey(asked, key, { refusal: rolled })
        : showMinted(asked, rolled, await whenEverywhere());
    }
    case 'save': {
      const typed = typedIn(form);
      const change = changeTyped(typed, key.settings);
      const changed = change instanceof Refusal ? change : await apps.changeKey(owner, { appId, keyId }, change);
      if (changed instanceof Refusal) return showKey(asked, key, { typed, refusal: changed });
      return redirectTo(to('key', { id: keyId, done: 'saved', ...lateIn(await whenEverywhere()) }));
    }
    default: // Taken for a form without fields, it would take all limits away.
      return redirectTo(to('key', { id: keyId }));
  }
}

function noSuchKey(asked: AppRequest): PageResponse {
  return showMissing(asked, { title: KEYS_TEXTS.title, page: 'keys', above: KEYS_TEXTS.title }, TEXTS.noSuchKey);
}

interface Refused {
  readonly typed?: TypedSettings;
  readonly refusal: Refusal;
}

async function showKey(asked: AppRequest, key: ApiKey, refused?: Refused): Promise<PageResponse> {
  const { services, request, to, may } = asked;
  const isOver = key.revokedAtMs !== undefined;
  const form = (fields: Html) => request.form(to('key', { id: key.keyId }), fields);
  const facts = section({ id: 'facts', heading: TEXTS.facts, body: [await factsOf(asked, key)] });
  const forms = isOver || !may('key') ? undefined : formsOf(asked, key, { form, facts, refused });
  const body = html`${errorSummary(refused?.refusal.message)}${successNotice(TEXTS.done.get(request.query.get('done')))}${lateNotice(request.query)}
<p class="row"><code>${key.hint}</code> ${stateOf(key, services.clock.nowMs())}</p>
${isOver ? undefined : snippetsOf(asked, key)}
${isOver || key.boundUser === undefined ? undefined : linkLine(asked.to('agents', { key: key.keyId }), TEXTS.forAgents)}
${await keyChart(asked, key)}
${forms ?? facts}`;
  const above = KEYS_TEXTS.title;
  return showAppPage(asked, { title: nameOf(key), body, page: 'keys', above, refusal: refused?.refusal });
}

/** What can be changed beside what is known: on a phone the way to change it comes first. */
function formsOf(
  asked: AppRequest,
  key: ApiKey,
  shown: { readonly form: (fields: Html) => Html; readonly facts: Html; readonly refused: Refused | undefined },
): Html {
  const { form, facts, refused } = shown;
  const typed = refused?.typed ?? typedOf(key.settings);
  const { models, addresses, perMinute, monthlyBudget } = key.settings;
  const isLimited = [models, addresses, perMinute, monthlyBudget].some((limit) => limit !== null);
  const fields = settingFields(typed, asked.services.currency, { isOpen: isLimited || refused !== undefined });
  const edit = html`${fields}\n${button(KEYS_TEXTS.save, { name: 'act', value: 'save' })}`;
  const revoke = confirmation({
    act: TEXTS.revoke,
    what: TEXTS.revokeWhat,
    form: form(button(TEXTS.revokeButton, { kind: 'danger', name: 'act', value: 'revoke' })),
  });
  return html`<div class="columns">
${section({ id: 'edit', heading: KEYS_TEXTS.edit, body: [form(edit)] })}
<div>
${facts}
${section({ id: 'end', heading: TEXTS.end, body: [key.rolledTo === undefined ? (verifyFirst(asked) ?? rollPart(form)) : undefined, revoke] })}
</div>
</div>`;
}

function rollPart(form: (fields: Html) => Html): Html {
  const choices = TEXTS.overlaps.map(([value, text]) => ({ value, text, isChosen: value === DEFAULT_OVERLAP }));
  const fields = html`${selectField({ name: 'overlap', label: TEXTS.overlap, choices })}
${button(TEXTS.rollButton, { name: 'act', value: 'roll' })}`;
  const what = html`${TEXTS.rollWhat} ${TEXTS.rollAsk}`;
  return confirmation({ act: TEXTS.roll, what, form: form(fields) });
}

async function factsOf({ services, request, to, amountOf }: AppRequest, key: ApiKey): Promise<Html> {
  const { formats } = request;
  const { expiresAtMs, monthlyBudget } = key.settings;
  const use = (await services.readBudgets([key])).get(key.keyId);
  const at = (epochMs: number) => moment(epochMs, formats);
  const other = (keyId: string) => html`<a href="${to('key', { id: keyId })}"><code>${keyId}</code></a>`;
  return definitionList([
    [TEXTS.keyId, html`<code>${key.keyId}</code>`],
    key.boundUser === undefined ? undefined : [TEXTS.user, key.boundUser],
    key.joinSeconds === undefined ? undefined : [TEXTS.joins, TEXTS.seconds(key.joinSeconds)],
    [TEXTS.created, at(key.createdAtMs)],
    [TEXTS.lastUsed, key.lastUsedAtMs === undefined ? KEYS_TEXTS.never : at(key.lastUsedAtMs)],
    expiresAtMs === null ? undefined : [TEXTS.expires, at(expiresAtMs)],
    key.revokedAtMs === undefined ? undefined : [TEXTS.revoked, at(key.revokedAtMs)],
    key.rolledFrom === undefined ? undefined : [TEXTS.rolledFrom, other(key.rolledFrom)],
    key.rolledTo === undefined ? undefined : [TEXTS.rolledTo, other(key.rolledTo)],
    monthlyBudget === null
      ? undefined
      : [
          TEXTS.spent,
          use === undefined
            ? TEXTS.spentUnknown
            : TEXTS.spentOf(amountOf(use.spent), amountOf(use.held), amountOf(monthlyBudget)),
        ],
  ]);
}

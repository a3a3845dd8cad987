import { newKeySchema } from '@purser/contract/keys.ts';
import type { ApiKey } from '#developers/keys/api-key.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { errorSummary, warningNotice } from '#web/components/notices.ts';
import { button, card, codeBlock, fold, linkLine, section } from '#web/components/parts.ts';
import { moment, table } from '#web/figures/figures.ts';
import { AGENTS_GUIDE, linesSection } from '#web/coding-agents/agent-lines.ts';
import { type AppRequest, forApp, showAppPage, showMissing, verifyFirst } from '#web/console/frame/app-page.ts';
import { changeTyped, NOTHING_TYPED, typedIn, type TypedSettings } from '#web/console/keys/key-form.ts';
import { nameOf, stateOf, toMadeBefore } from '#web/console/keys/key-parts.ts';
import { AGENTS_TEXTS as TEXTS, KEY_TEXTS, KEYS_TEXTS } from '#web/console/keys/texts.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { checked, type Form, keyIdOnce, onceField } from '#web/forms/form.ts';
import { agentModels, NAMES_MAX } from '#web/coding-agents/agent-models.ts';
import { amountField, checkboxField, selectField, textArea, textField } from '#web/fields/fields.ts';
import { parseId } from '#kernel/values/ids.ts';
import { filterForm } from '#web/fields/filter.ts';

const KEYS_SHOWN = 25;
const USUAL_DAYS = 90;
const DAY_MS = 86_400_000;

/**
 * Shows at `/console/:part/agents` the keys for coding agents, each of one user, and the form for another. With `?key=`, it shows
 * what to paste where that key is used.
 */
export const agentsPage = forApp({
  GET: (asked) => {
    const keyId = asked.request.query.get('key');
    return keyId === null ? showAgents(asked) : showAgentKey(asked, keyId);
  },
  POST: (asked, form) => make(asked, form),
});

/** Makes a key by the schema and the function of `POST /apps/{appId}/keys`. */
async function make(asked: AppRequest, form: Form): Promise<PageResponse> {
  const typed = typedForAgent(form);
  const refused = (refusal: Refusal) => showAgents(asked, { typed, refusal });
  if (typed.user === '') return refused(refuse('BAD_REQUEST', TEXTS.userMissing));
  const change = changeTyped(typed.settings);
  if (change instanceof Refusal) return refused(change);
  const options = { mode: asked.mode, userId: typed.user, ...(typed.joins ? { joinSeconds: JOIN_SECONDS } : {}) };
  const given = checked(newKeySchema, options, { userId: TEXTS.user });
  if (given instanceof Refusal) return refused(given);
  const { mode, userId: boundUser, joinSeconds } = given;
  const keyId = keyIdOnce(form, asked.app.appId);
  const minted = await asked.services.apps.mintKey(asked.owner, asked.app.appId, {
    keyId,
    mode,
    boundUser,
    joinSeconds,
    ...change,
  });
  if (!(minted instanceof Refusal)) return showMintedForAgent(asked, minted, typed.model);
  const before = keyId === undefined ? undefined : await asked.services.apps.findKey(asked.app.appId, keyId);
  return before === undefined ? refused(minted) : toMadeBefore(asked, before.keyId);
}

/** What was typed and why it was refused. */
interface Refused {
  readonly typed: AgentKeyTyped;
  readonly refusal: Refusal;
}

async function showAgents(asked: AppRequest, refused?: Refused): Promise<PageResponse> {
  const { services, app, mode, to } = asked;
  const nowMs = services.clock.nowMs();
  const keys = (await services.apps.listKeys(app.appId))
    .filter((key) => key.mode === mode && key.boundUser !== undefined && isInForce(key, nowMs))
    .toReversed();
  const typed = refused?.typed ?? {
    settings: { ...NOTHING_TYPED, expires: isoOf(nowMs + USUAL_DAYS * DAY_MS).slice(0, 10) },
    user: asked.request.query.get('user') ?? '',
    model: '',
    joins: true,
  };
  const body = html`${errorSummary(refused?.refusal.message)}
<p class="soft">${TEXTS.what}</p>
${card(
  await keysTable(asked, keys.slice(0, KEYS_SHOWN)),
  keys.length > KEYS_SHOWN ? linkLine(to('keys'), TEXTS.more) : undefined,
)}
${asked.may('agents') ? section({ id: 'new', heading: TEXTS.make, body: [verifyFirst(asked) ?? agentKeyForm(asked, typed)] }) : asked.tooLow()}
${linkLine(AGENTS_GUIDE, TEXTS.guide)}`;
  return showAppPage(asked, { title: TEXTS.title, body, page: 'agents', refusal: refused?.refusal });
}

function isInForce({ revokedAtMs, settings: { expiresAtMs } }: ApiKey, nowMs: number): boolean {
  return revokedAtMs === undefined && (expiresAtMs === null || expiresAtMs > nowMs);
}

async function keysTable(asked: AppRequest, keys: readonly ApiKey[]): Promise<Html> {
  const { services, request, to, amountOf } = asked;
  const uses = await services.readBudgets(keys);
  const spentOf = ({ keyId, settings: { monthlyBudget } }: ApiKey): string => {
    if (monthlyBudget === null) return TEXTS.noBudget;
    const use = uses.get(keyId);
    return use === undefined ? TEXTS.unknown : TEXTS.spentOf(amountOf(use.spent), amountOf(monthlyBudget));
  };
  return table({
    caption: TEXTS.caption(asked.mode),
    columns: TEXTS.columns.map((name) => ({ name })),
    rows: keys.map((key) => [
      html`<a href="${to('key', { id: key.keyId })}">${nameOf(key)}</a><br><code>${key.hint}</code>`,
      key.boundUser ?? '',
      spentOf(key),
      key.settings.expiresAtMs === null ? TEXTS.noExpiry : request.formats.day(key.settings.expiresAtMs),
      key.lastUsedAtMs === undefined ? TEXTS.never : html`${moment(key.lastUsedAtMs, request.formats)}`,
      html`<a href="${to('agents', { key: key.keyId })}">${KEY_TEXTS.lines}</a>`,
    ]),
    empty: TEXTS.none,
  });
}

/** A new key for a coding agent, as it is typed. */
interface AgentKeyTyped {
  readonly settings: TypedSettings;
  readonly user: string;
  /** The model that the lines to paste name. */
  readonly model: string;
  /** Whether its repeats get the answer of the first call. */
  readonly joins: boolean;
}

/** Codex and Claude Code repeat a call within seconds of the moment at which they lost its answer. */
const JOIN_SECONDS = 30;

function typedForAgent(form: Form): AgentKeyTyped {
  return {
    settings: typedIn(form),
    user: form.field('user').trim(),
    model: form.field('model'),
    joins: form.field('joins') === 'yes',
  };
}

/** The user first, then what the key may spend: the rest has values that suit most. */
function agentKeyForm(
  { services: { catalogue, currency }, app, mode, request, to }: AppRequest,
  { settings, user, model, joins }: AgentKeyTyped,
): Html {
  const all = agentModels(app, catalogue, { models: null, chosen: model });
  const choices = all.names.map((name) => ({ value: name, text: name, isChosen: name === all.model }));
  const modelHint = all.names.length < NAMES_MAX ? TEXTS.modelHint : `${TEXTS.modelHint} ${TEXTS.modelsCut(NAMES_MAX)}`;
  const limits = html`${textArea({ name: 'models', label: KEYS_TEXTS.models, value: settings.models, hint: KEYS_TEXTS.modelsHint })}
${textArea({ name: 'addresses', label: KEYS_TEXTS.addresses, value: settings.addresses, hint: KEYS_TEXTS.addressesHint })}
${textField({ name: 'perMinute', label: KEYS_TEXTS.perMinute, value: settings.perMinute, hint: KEYS_TEXTS.perMinuteHint, inputMode: 'numeric', lengthMax: 7 })}`;
  const isLimited = [settings.models, settings.addresses, settings.perMinute].some((typed) => typed !== '');
  return request.form(
    to('agents'),
    html`${onceField()}<div class="columns">
<div>
${textField({ name: 'user', label: TEXTS.user, value: user, hint: mode === 'live' ? TEXTS.userHint : TEXTS.testUserHint, lengthMax: 256, isRequired: true, autocomplete: 'off' })}
${textField({ name: 'name', label: KEYS_TEXTS.name, value: settings.name, hint: TEXTS.nameHint, lengthMax: 80 })}
${choices.length === 0 ? undefined : selectField({ name: 'model', label: TEXTS.model, hint: modelHint, choices })}
</div>
<div>
${amountField({ name: 'budget', label: KEYS_TEXTS.budget(currency), text: settings.budget })}
<p class="hint">${TEXTS.budgetHint}</p>
${textField({ name: 'expires', label: KEYS_TEXTS.expires, value: settings.expires, hint: KEYS_TEXTS.expiresHint, lengthMax: 10 })}
</div>
</div>
${checkboxField({ name: 'joins', label: TEXTS.joins, value: 'yes', isChecked: joins })}
${fold(TEXTS.limits, limits, isLimited)}
${button(TEXTS.create)}`,
  );
}

/** What to paste where a key is used that cannot be shown any more. The reader may choose another model. */
async function showAgentKey(asked: AppRequest, text: string): Promise<PageResponse> {
  const { services, app, mode, request, to } = asked;
  const keyId = parseId('key', text);
  const key = keyId === undefined ? undefined : await services.apps.findKey(app.appId, keyId);
  if (key?.mode !== mode || key.boundUser === undefined) {
    return showMissing(asked, { title: TEXTS.title, page: 'agents', above: TEXTS.title }, KEY_TEXTS.noSuchKey);
  }
  const chosen = request.query.get('model') ?? undefined;
  const { names, model = '' } = modelsOf(asked, key, chosen);
  const choices = names.map((name) => ({ value: name, text: name }));
  const [address = ''] = to('agents').split('?');
  const choose = filterForm(address, mode, [{ name: 'model', label: TEXTS.model, value: model, choices }], {
    key: key.keyId,
  });
  const again = html`<p class="soft">${TEXTS.again}</p>`;
  const body = html`<p class="row"><code>${key.hint}</code> ${stateOf(key, services.clock.nowMs())} <a href="${to('key', { id: key.keyId })}">${KEY_TEXTS.toKey}</a></p>
<p class="soft">${TEXTS.of(key.boundUser)}</p>
${linkLine(to('sessions', { user: key.boundUser }), TEXTS.sessions)}
${linesOf(asked, key, { chosen, before: [again, choose] })}`;
  return showAppPage(asked, { title: nameOf(key), body, page: 'agents', above: TEXTS.title });
}

/** The page that shows a new key, this once, and what to paste. */
function showMintedForAgent(
  asked: AppRequest,
  { key, apiKey }: { readonly key: ApiKey; readonly apiKey: string },
  chosen: string,
): PageResponse {
  const body = html`${warningNotice(KEY_TEXTS.once)}
${card(
  codeBlock({ id: 'key', label: KEY_TEXTS.theKey, code: apiKey }),
  html`<p class="soft">${TEXTS.of(key.boundUser ?? '')}</p>`,
)}
${linesOf(asked, key, { chosen, apiKey, before: [] })}
${linkLine(asked.to('agents', { key: key.keyId }), TEXTS.otherModel)}`;
  return showAppPage(asked, { title: KEY_TEXTS.made, body, page: 'agents', above: TEXTS.title });
}

function modelsOf(
  { services: { catalogue }, app }: AppRequest,
  { settings: { models } }: ApiKey,
  chosen: string | undefined,
) {
  return agentModels(app, catalogue, { models, chosen });
}

function linesOf(
  asked: AppRequest,
  key: ApiKey,
  { chosen, apiKey, before }: { chosen: string | undefined; apiKey?: string; before: readonly Html[] },
): Html {
  const models = modelsOf(asked, key, chosen);
  return linesSection({
    publicUrl: asked.services.publicUrl,
    apiKey: apiKey ?? key.hint,
    models,
    before,
    none: TEXTS.noModel,
  });
}

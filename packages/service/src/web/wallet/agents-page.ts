import type { ApiKey } from '#developers/keys/api-key.ts';
import type { BudgetUse } from '#http/planes/key-budgets.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { parseId } from '#kernel/values/ids.ts';
import { type Micros, micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { agentModels } from '#web/coding-agents/agent-models.ts';
import { AGENTS_GUIDE, linesSection } from '#web/coding-agents/agent-lines.ts';
import { AGENT_TEXTS } from '#web/coding-agents/texts.ts';
import { filterForm } from '#web/fields/filter.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { headlineAmount, moment } from '#web/figures/figures.ts';
import { confirmation, errorSummary, successNotice } from '#web/components/notices.ts';
import { appMark, button, card, definitionList, linkLine, section } from '#web/components/parts.ts';
import { lateIn, lateNotice } from '#web/frame/late-notice.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import type { Form } from '#web/forms/form.ts';
import { AGENTS_TEXTS as TEXTS } from '#web/wallet/agents-texts.ts';
import { forWalletOwner, type OwnedWallet, spendableOf } from '#web/wallet-owner/owned-wallet.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/**
 * Makes the page `/wallet/:part/agents`: the keys with which coding agents spend from this wallet alone, what each may still spend,
 * a way to stop it, and what to paste (ON-06). Keys are made by the app's people, and no key is shown here.
 */
export const agentsPage = forWalletOwner({ GET: (own) => showAgents(own), POST: stop });

async function stop(own: OwnedWallet, form: Form): Promise<PageResponse> {
  const { services } = own;
  const { appId, userId } = own.connection;
  const keyId = parseId('key', form.field('key'));
  const { identityId } = own.owner;
  const done = keyId === undefined ? 'none' : await services.boundKeys.stop({ identityId, appId, userId }, keyId);
  if (done === 'elsewhere') return showAgents(own, refuse('CONFLICT', TEXTS.elsewhere));
  const late = done === 'stopped' ? lateIn(await services.whenEverywhere()) : {};
  return redirectTo(`${own.path}/agents?${String(new URLSearchParams({ done, ...late }))}`);
}

async function showAgents(own: OwnedWallet, refusal?: Refusal): Promise<PageResponse> {
  const { services, connection, request, path, app } = own;
  const keys = await services.boundKeys.list(connection);
  const uses = await services.readBudgets(keys);
  const body = html`<p><a href="${path}">${TEXTS.toWallet}</a></p>
${appMark(app)}
${errorSummary(refusal?.message)}${successNotice(TEXTS.done.get(request.query.get('done')))}${lateNotice(request.query)}
${keys.length === 0 ? card(html`<p>${TEXTS.none(app.name, connection.userId)}</p>`, linkLine(AGENTS_GUIDE, TEXTS.guide)) : html`<p>${TEXTS.what(app.name)}</p>`}
${linkLine(`${path}/sessions`, TEXTS.sessions)}
${keys.map((key, at) => keySection(own, { key, use: uses.get(key.keyId), id: `key-${at + 1}` }))}
${keys.length === 0 ? undefined : whatToPaste(own, keys)}`;
  const hasCode = keys.length > 0;
  const shown = showWalletOwnerPage(services, { title: TEXTS.title(app.name), body, refusal, hasCode });
  return { ...shown, needs: hasCode ? { isConsole: true } : {} };
}

interface Shown {
  readonly key: ApiKey;
  /** Undefined if the key has no budget, or if nobody knows now. */
  readonly use: BudgetUse | undefined;
  readonly id: string;
}

function keySection(own: OwnedWallet, { key, use, id }: Shown): Html {
  const { connection, request, path } = own;
  const { formats } = request;
  const { currency } = connection.wallet;
  const { name, monthlyBudget, expiresAtMs, models } = key.settings;
  const amount = (value: Micros) => formats.amount(value, currency);
  const left = leftOf(own, key, use);
  const stopForm = request.form(
    `${path}/agents`,
    html`${hiddenField('key', key.keyId)}${button(TEXTS.stopYes, { kind: 'danger', label: TEXTS.stopYesOf(name ?? key.hint) })}`,
  );
  return section({
    id,
    heading: html`${name ?? TEXTS.unnamed} <code>${key.hint}</code>`,
    body: [
      left === undefined ? undefined : html`<p class="soft">${TEXTS.left}</p>`,
      left === undefined ? undefined : headlineAmount({ amount: left, currency }, formats),
      definitionList([
        [TEXTS.budget, monthlyBudget === null ? TEXTS.noBudget : amount(monthlyBudget)],
        monthlyBudget === null ? undefined : [TEXTS.spent, use === undefined ? TEXTS.unknown : amount(use.spent)],
        use === undefined || use.held === 0n ? undefined : [TEXTS.held, amount(use.held)],
        [TEXTS.expires, expiresAtMs === null ? TEXTS.noExpiry : moment(expiresAtMs, formats)],
        [TEXTS.lastUsed, key.lastUsedAtMs === undefined ? TEXTS.never : moment(key.lastUsedAtMs, formats)],
        models === null ? undefined : [TEXTS.models, models.join(', ')],
      ]),
      confirmation({ act: TEXTS.stop, what: TEXTS.stopWhat(own.app.name), form: stopForm }),
    ],
  });
}

/** What this key could spend now: the least of its budget, the cap and the balance. Undefined if nobody knows the budget now. */
function leftOf({ connection }: OwnedWallet, key: ApiKey, use: BudgetUse | undefined): Micros | undefined {
  const spendable = spendableOf(connection);
  const { monthlyBudget } = key.settings;
  if (monthlyBudget === null) return spendable;
  if (use === undefined) return undefined;
  const room = monthlyBudget - use.spent - use.held;
  if (room <= 0n) return ZERO_MICROS;
  return room < spendable ? micros(room) : spendable;
}

/** The lines of one key, which differ by the models that it may call. They have no key: its owner pastes it. */
function whatToPaste({ services, request, path }: OwnedWallet, keys: readonly ApiKey[]): Html {
  const { catalogue, publicUrl } = services;
  const limits = keys.map(({ settings }) => settings.models);
  const models = limits.includes(null) ? null : [...new Set(limits.flatMap((some) => some ?? []))];
  const chosen = request.query.get('model') ?? undefined;
  // The wallet does not know which app is the operator's own, so it names what every app may call.
  const all = agentModels({ isFirstParty: false }, catalogue, { models, chosen });
  const { names, model: value = '' } = all;
  const choices = names.map((name) => ({ value: name, text: name }));
  const choose = filterForm(`${path}/agents#lines`, 'live', [
    { name: 'model', label: AGENT_TEXTS.model, value, choices },
  ]);
  return linesSection({
    publicUrl,
    apiKey: AGENT_TEXTS.hidden,
    models: all,
    before: [html`<p>${TEXTS.paste}</p>`, names.length > 1 ? choose : undefined],
    none: TEXTS.noModel,
  });
}

import type { ApiKey } from '#developers/keys/api-key.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { parseId } from '#kernel/values/ids.ts';
import { agentModels } from '#web/coding-agents/agent-models.ts';
import { linesSection } from '#web/coding-agents/agent-lines.ts';
import { filterForm } from '#web/fields/filter.ts';
import { warningNotice } from '#web/components/notices.ts';
import { card, codeBlock, linkLine } from '#web/components/parts.ts';
import { type AppRequest, showAppPage, showMissing } from '#web/console/frame/app-page.ts';
import { nameOf, stateOf } from '#web/console/keys/key-parts.ts';
import { AGENTS_TEXTS as TEXTS, KEY_TEXTS } from '#web/console/keys/texts.ts';
import type { PageResponse } from '#web/frame/page.ts';

/** What to paste where a key is used that cannot be shown any more. The reader may choose another model. */
export async function showAgentKey(asked: AppRequest, text: string): Promise<PageResponse> {
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
export function showMintedForAgent(
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

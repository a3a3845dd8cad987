import type { Member } from '#developers/teams/team.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { AppId } from '#kernel/values/ids.ts';
import type { KeyOfApp } from '#operator/look-up/keys-and-events.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { moment } from '#web/figures/moment.ts';
import { section } from '#web/components/section.ts';
import { chartOfKey } from '#web/console/keys/key-chart.ts';
import { KEY_TEXTS } from '#web/console/keys/texts.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showNoSuch, showOpsPage } from '#web/ops/frame/ops-page.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { thingLink } from '#web/ops/frame/links.ts';
import { keyState } from '#web/ops/apps/app-parts.ts';
import { APP_TEXTS, APPS_TEXTS, THING_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';
import { trailSection } from '#web/ops/apps/trail.ts';

/**
 * Makes the page `/ops/key?id=`, which shows one API key of any app, its calls by day, and what was done with it. It
 * never shows the text of the key.
 */
export function keyPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const found = await services.operator.anyKey(asked.request.query.get('id')?.trim() ?? '');
      if (found === undefined) {
        return showNoSuch(services, asked, { message: TEXTS.noKey, page: 'apps', above: APPS_TEXTS.title });
      }
      const [whose, trail] = await Promise.all([
        appFacts(services, asked, found.appId),
        trailSection(services, asked, 'on', { subject: found.key.keyId }),
      ]);
      const none = section({ id: 'calls', heading: KEY_TEXTS.calls, body: [html`<p>${TEXTS.noCalls}</p>`] });
      const body = html`${section({ id: 'facts', heading: TEXTS.facts, body: [factsOf(services, asked, found, whose)] })}
${chartOfKey(found.days) ?? none}
${trail}`;
      const page = { title: found.key.settings.name ?? TEXTS.key, body, page: 'apps', above: APPS_TEXTS.title };
      return showOpsPage(services, asked, page);
    },
  });
}

type Fact = readonly [name: string, value: Html | string];

/** The app of a thing and its owners, each with a link. */
export async function appFacts(
  { operator }: OpsServices,
  { role }: OpsRequest,
  appId: AppId,
): Promise<readonly Fact[]> {
  const [names, { members }] = await Promise.all([operator.apps.names([appId]), operator.teams.list(appId)]);
  const owners = members.filter((one: Member) => one.role === 'owner');
  const links = owners.map((one) => html`${thingLink(role, { kind: 'account', id: one.accountId }, one.email)} `);
  return [
    [TEXTS.app, thingLink(role, { kind: 'app', id: appId }, names.get(appId))],
    [TEXTS.owners, owners.length === 0 ? TEXTS.noOwner : html`${links}`],
  ];
}

function factsOf(
  { clock }: OpsServices,
  { request: { formats } }: OpsRequest,
  { key }: KeyOfApp,
  whose: readonly Fact[],
): Html {
  const { keyId, hint, mode, settings, createdAtMs, lastUsedAtMs, revokedAtMs } = key;
  const at = (epochMs: number) => moment(epochMs, formats);
  return definitionList([
    [KEY_TEXTS.keyId, html`<code>${keyId}</code>`],
    [TEXTS.key, html`<code>${hint}</code>`],
    ...whose,
    [TEXTS.mode, mode],
    [TEXTS.state, keyState(key, clock.nowMs())],
    [KEY_TEXTS.created, at(createdAtMs)],
    [KEY_TEXTS.lastUsed, lastUsedAtMs === undefined ? APP_TEXTS.never : at(lastUsedAtMs)],
    settings.expiresAtMs === null ? undefined : [KEY_TEXTS.expires, at(settings.expiresAtMs)],
    revokedAtMs === undefined ? undefined : [KEY_TEXTS.revoked, at(revokedAtMs)],
  ]);
}

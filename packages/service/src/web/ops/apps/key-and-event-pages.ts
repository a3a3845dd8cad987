import { type Html, html } from '#kernel/text/html.ts';
import type { AppId } from '#kernel/values/ids.ts';
import type { KeyOfApp } from '#operator/look-up/keys-and-events.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { chartOfKey } from '#web/console/keys/key-chart.ts';
import { KEY_TEXTS } from '#web/console/keys/texts.ts';
import { stateBadge, userOf } from '#web/console/webhooks/deliveries-list.ts';
import { attemptsOf, bodyOf } from '#web/console/webhooks/delivery-page.ts';
import { DELIVERY_TEXTS } from '#web/console/webhooks/texts.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, part } from '#web/ops/frame/details.ts';
import { keyState } from '#web/ops/apps/app-parts.ts';
import { APP_TEXTS, ENTITY_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';
import { trailPart } from '#web/ops/apps/trail.ts';

/**
 * The page `/ops/key?id=`, which shows one API key of any app, its calls by day, and what was done with it. It
 * never shows the text of the key.
 */
export const keyPage: OpsPage = {
  GET: async (asked) => {
    const found = await asked.operator.anyKey(asked.asks('id'));
    if (found === undefined) return asked.showNoSuch('apps', 'No API key has this ID.');
    const [whose, trail] = await Promise.all([
      appFacts(asked, found.appId),
      trailPart(asked, 'on', { subject: found.key.keyId }),
    ]);
    const body = html`${part('facts', TEXTS.facts, factsOf(asked, found, whose))}
${chartOfKey(found.days) ?? part('calls', KEY_TEXTS.calls, html`<p>No calls with this key in 30 days.</p>`)}
${trail}`;
    return asked.show({ title: found.key.settings.name ?? TEXTS.key, body, below: 'apps' });
  },
};

/** The page `/ops/event?id=`, which shows one webhook event of any app, its body and the attempts to deliver it. */
export const eventPage: OpsPage = {
  GET: async (asked) => {
    const { link, moment } = asked;
    const found = await asked.operator.anyEvent(asked.asks('id'));
    if (found === undefined) return asked.showNoSuch('apps', TEXTS.noEvent);
    const { appId, event } = found;
    const user = userOf(event);
    const facts = definitionList([
      [DELIVERY_TEXTS.id, code(event.eventId)],
      [DELIVERY_TEXTS.type, event.type],
      ...(await appFacts(asked, appId)),
      user === undefined ? undefined : ['About the wallet', link({ kind: 'wallet', id: `${appId} ${user}` })],
      [DELIVERY_TEXTS.state, stateBadge(event.state)],
      [DELIVERY_TEXTS.happened, moment(event.createdAtMs)],
      event.nextAttemptAtMs === undefined ? undefined : [DELIVERY_TEXTS.next, moment(event.nextAttemptAtMs)],
    ]);
    const body = html`<div class="columns">
<div>${part('facts', TEXTS.facts, facts)}${attemptsOf(event)}</div>
<div>${bodyOf(event)}</div>
</div>`;
    return asked.show({ title: 'Webhook event', body, below: 'apps' });
  },
};

type Fact = readonly [name: string, value: Html | string];

/** The app of a key or an event and its owners, each with a link. */
async function appFacts({ operator, link }: OpsRequest, appId: AppId): Promise<readonly Fact[]> {
  const [names, { members }] = await Promise.all([operator.apps.names([appId]), operator.teams.list(appId)]);
  const owners = members.filter(({ role }) => role === 'owner');
  const links = owners.map(({ accountId, email }) => html`${link({ kind: 'account', id: accountId }, email)} `);
  return [
    ['App', link({ kind: 'app', id: appId }, names.get(appId))],
    ['Owners', owners.length === 0 ? 'nobody' : html`${links}`],
  ];
}

function factsOf({ clock, moment }: OpsRequest, { key }: KeyOfApp, whose: readonly Fact[]): Html {
  const { keyId, hint, mode, settings, createdAtMs, lastUsedAtMs, revokedAtMs } = key;
  return definitionList([
    [KEY_TEXTS.keyId, code(keyId)],
    [TEXTS.key, code(hint)],
    ...whose,
    ['Mode', mode],
    ['State', keyState(key, clock.nowMs())],
    [KEY_TEXTS.created, moment(createdAtMs)],
    [KEY_TEXTS.lastUsed, lastUsedAtMs === undefined ? APP_TEXTS.never : moment(lastUsedAtMs)],
    settings.expiresAtMs === null ? undefined : [KEY_TEXTS.expires, moment(settings.expiresAtMs)],
    revokedAtMs === undefined ? undefined : [KEY_TEXTS.revoked, moment(revokedAtMs)],
  ]);
}

import { type Html, html } from '#kernel/text/html.ts';
import { section } from '#web/components/parts.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { appPath } from '#web/console/frame/mode.ts';
import { SET_UP_TEXTS as TEXTS } from '#web/console/home/texts.ts';

export type WebhookHealth = Awaited<ReturnType<AppRequest['services']['deliveries']['health']>>;

/** What a new app still needs, each with the way to the page that does it. Undefined once everything is there. */
export async function setUpList(
  { services: { apps, stats, logos }, app }: AppRequest,
  webhook: WebhookHealth,
): Promise<Html | undefined> {
  const { appId } = app;
  const [keys, firsts, logo] = await Promise.all([
    apps.listKeys(appId),
    // A live key that was only refused has made no call that works.
    stats.firsts(appId),
    logos.digestOf(appId),
  ]);
  const inForce = keys.filter(({ revokedAtMs }) => revokedAtMs === undefined);
  const has = (mode: 'live' | 'sandbox') => inForce.some((key) => key.mode === mode);
  const steps = [
    { ...TEXTS.testKey, isDone: has('sandbox'), href: appPath(appId, 'keys', 'sandbox') },
    { ...TEXTS.call, isDone: firsts.played, href: appPath(appId, 'playground', 'sandbox') },
    {
      ...TEXTS.refusal,
      isDone: firsts.refused,
      href: appPath(appId, 'sandbox', 'sandbox'),
    },
    { ...TEXTS.redirect, isDone: app.redirectUris.length > 0, href: appPath(appId, 'settings', 'live') },
    { ...TEXTS.logo, isDone: logo !== undefined, href: appPath(appId, 'settings', 'live') },
    { ...TEXTS.webhook, isDone: webhook.status === 'active', href: appPath(appId, 'webhooks', 'live') },
    { ...TEXTS.liveKey, isDone: has('live'), href: appPath(appId, 'keys', 'live') },
    {
      ...TEXTS.liveCall,
      isDone: firsts.charged,
      href: appPath(appId, 'playground', 'live'),
    },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return undefined;
  const items = steps.map(({ name, why, isDone, href }) =>
    isDone
      ? html`<li class="done">${name} <span class="soft">${TEXTS.done}</span></li>\n`
      : html`<li><a href="${href}">${name}</a><br><span class="soft">${why}</span></li>\n`,
  );
  return section({
    id: 'set-up',
    heading: TEXTS.heading(done, steps.length),
    body: [html`<ul class="todo">${items}</ul>`],
  });
}

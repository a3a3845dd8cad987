import { html } from '#kernel/html.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { moment } from '#web/components/moment.ts';
import { successNotice } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { forApp } from '#web/console/app-page.ts';
import { showAppPage } from '#web/console/console-page.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';
import { HOME_TEXTS, SETTINGS_TEXTS } from '#web/console-home/texts.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** `/console/:part`: the home of an app. */
export function homePage(services: ConsoleServices): PageMethods {
  return forApp(services, {
    GET: (asked) => {
      const { app, request } = asked;
      const facts = definitionList([
        [HOME_TEXTS.appId, html`<code>${app.appId}</code>`],
        [HOME_TEXTS.created, moment(app.createdAtMs, request.formats)],
      ]);
      const body = html`${successNotice(SETTINGS_TEXTS.done.get(request.query.get('done')))}${card(facts)}`;
      return showAppPage(services, asked, { title: app.name, body, page: '' });
    },
  });
}

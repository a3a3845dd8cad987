import { html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { emailAsked, personForm, reasonIn } from '#web/ops/wallets/person-act.ts';
import { personWith } from '#web/ops/wallets/person-page.ts';
import { PERSON_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

/** Makes the page `/ops/person-export?email=`, which gives everything that is kept about a person as a file (CP-12). */
export function personExportPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => show(services, asked),
    POST: async (asked, form) => {
      const reason = reasonIn(form);
      if (reason instanceof Refusal) return show(services, asked, reason);
      const person = await personWith(services, emailAsked(asked));
      if (person instanceof Refusal) return show(services, asked, person);
      const pieces = await services.operator.privacy.exportFor(asked.act(reason), person.identityId);
      if (pieces instanceof Refusal) return show(services, asked, pieces);
      const headers = {
        'content-type': 'application/octet-stream', // Saved, not shown.
        'content-disposition': `attachment; filename="${TEXTS.fileName}"`,
      };
      return { status: 200, file: { headers, text: pieces } };
    },
  });
}

async function show(services: OpsServices, asked: OpsRequest, refused?: Refusal): Promise<PageResponse> {
  const person = await personWith(services, emailAsked(asked));
  const refusal = refused ?? (person instanceof Refusal ? person : undefined);
  const form = person instanceof Refusal ? undefined : personForm(asked, 'person-export', TEXTS.exportButton);
  const body = html`${errorSummary(refusal?.message)}<p class="soft">${TEXTS.exportWhat}</p>
${person instanceof Refusal ? undefined : card(html`<p>${person.email}</p>`, form)}`;
  return showOpsPage(services, asked, { title: TEXTS.exportTitle, body, page: 'person', above: TEXTS.title, refusal });
}

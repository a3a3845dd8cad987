import { html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { card } from '#web/components/section.ts';
import type { OpsRequest, OpsServices } from '#web/ops/frame/asked.ts';
import { showOpsPage as show, type OpsPageParts } from '#web/ops/frame/ops-page.ts';

export function showOpsPage(
  _services: OpsServices,
  asked: OpsRequest,
  { above, page, ...parts }: OpsPageParts & { readonly page: string; readonly above?: string },
) {
  return show(asked, above === undefined ? { ...parts, page } : { ...parts, below: page });
}

export function showNoSuch(
  services: OpsServices,
  asked: OpsRequest,
  { message, ...at }: { readonly message: string; readonly page: string; readonly above: string },
) {
  const refusal: Refusal = refuse('NOT_FOUND', message);
  return showOpsPage(services, asked, {
    ...at,
    title: 'Not found',
    body: card(html`<p role="alert">${message}</p>`),
    refusal,
  });
}

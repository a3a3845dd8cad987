import { consentStep } from '#web/connect/consent.ts';
import { type OpenedLink, openLink, type WalletOwnerRequest } from '#web/wallet-owner/open-link.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { capPage, noticeOf, setCap } from '#web/topup/cap-refused.ts';
import { beginTopup, topupStep } from '#web/topup/topup-step.ts';
import type { PageResponse, PageMethods } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';
import type { Person } from '#people/session.ts';

/**
 * The pages that the links of 402 answers lead to (BI-04). They ask for consent if there is none, then for a new cap or the
 * end of a pause if one of them refused the call, then for an amount.
 */
export function topupLinkPages(services: WalletOwnerServices): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/topup/:part': {
      GET: (request) =>
        openTopup(services, request, (opened) => {
          const isAboutCap = opened.link.purpose === 'cap' && !opened.isForeign;
          return isAboutCap
            ? capPage(services, request, opened)
            : topupStep(services, request, stepOf(request, opened));
        }),
    },
    '/topup/:part/cap': {
      GET: toLink,
      POST: (request, form) =>
        openTopup(services, request, (opened) =>
          opened.isForeign ? toLink(request) : setCap(services, request, opened, form),
        ),
    },
    '/topup/:part/pay': {
      GET: (request) =>
        openTopup(services, request, (opened) => {
          const notice = opened.isForeign ? undefined : noticeOf(request.exchange.query, opened.app.name);
          return topupStep(services, request, stepOf(request, opened), { notice });
        }),
      POST: (request, form) =>
        openTopup(services, request, (opened) => beginTopup(services, request, form, stepOf(request, opened))),
    },
  };
}

/** The page of the link itself, for an address that takes a form and shows nothing. */
function toLink({ part }: WalletOwnerRequest): PageResponse {
  return redirectTo(`/topup/${part}`);
}

/** Asks for consent first, unless the wallet is somebody else's: anybody may pay into that, as a gift. */
async function openTopup(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  goOn: (opened: OpenedLink) => Promise<PageResponse> | PageResponse,
): Promise<PageResponse> {
  const opened = await openLink(services, request, 'topup');
  if ('status' in opened) return opened;
  const at = { path: `/topup/${request.part}`, cancelPath: undefined };
  return (opened.isForeign ? undefined : consentStep(services, request, opened, at)) ?? goOn(opened);
}

/** The query by which the page of the amounts knows that it follows the consent. It proves nothing. */
export const JUST_CONNECTED = 'connected=now';

function stepOf({ part, exchange }: WalletOwnerRequest, opened: OpenedLink) {
  const isLastStep = exchange.query === JUST_CONNECTED && opened.connection !== undefined;
  return { opened, path: `/topup/${part}`, action: `/topup/${part}/pay`, next: undefined, isLastStep };
}

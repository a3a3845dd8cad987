import { consentStep } from '#web/connect/consent.ts';
import { type OpenedLink, openLink } from '#web/wallet-owner/open-link.ts';
import type { WalletOwnerMethods, WalletOwnerRequest } from '#web/wallet-owner/services.ts';
import { capPage, noticeOf, setCap } from '#web/topup/cap-refused.ts';
import { beginTopup, topupStep } from '#web/topup/topup-step.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';

/**
 * The pages that the links of 402 answers lead to (BI-04). They ask for consent if there is none, then for a new cap or the
 * end of a pause if one of them refused the call, then for an amount.
 */
export const topupLinkPages: Readonly<Record<string, WalletOwnerMethods>> = {
  '/topup/:part': {
    GET: (request) =>
      openTopup(request, (opened) => {
        const isAboutCap = opened.link.purpose === 'cap' && !opened.isForeign;
        return isAboutCap ? capPage(opened) : topupStep(stepOf(opened));
      }),
  },
  '/topup/:part/cap': {
    GET: toLink,
    POST: (request, form) =>
      openTopup(request, (opened) => (opened.isForeign ? toLink(request) : setCap(opened, form))),
  },
  '/topup/:part/pay': {
    GET: (request) =>
      openTopup(request, (opened) => {
        const notice = opened.isForeign ? undefined : noticeOf(request.exchange.query, opened.app.name);
        return topupStep(stepOf(opened), { notice });
      }),
    POST: (request, form) => openTopup(request, (opened) => beginTopup(form, stepOf(opened))),
  },
};

/** The page of the link itself, for an address that takes a form and shows nothing. */
function toLink({ part }: WalletOwnerRequest): PageResponse {
  return redirectTo(`/topup/${part}`);
}

/** Asks for consent first, unless the wallet is somebody else's: anybody may pay into that, as a gift. */
async function openTopup(
  request: WalletOwnerRequest,
  goOn: (opened: OpenedLink) => Promise<PageResponse> | PageResponse,
): Promise<PageResponse> {
  const opened = await openLink(request, 'topup');
  if ('status' in opened) return opened;
  const at = { path: `/topup/${request.part}`, cancelPath: undefined };
  return (opened.isForeign ? undefined : consentStep(opened, at)) ?? goOn(opened);
}

/** The query by which the page of the amounts knows that it follows the consent. It proves nothing. */
export const JUST_CONNECTED = 'connected=now';

function stepOf(opened: OpenedLink) {
  const { part, exchange } = opened.request;
  const isLastStep = exchange.query === JUST_CONNECTED && opened.connection !== undefined;
  return { opened, path: `/topup/${part}`, action: `/topup/${part}/pay`, next: undefined, isLastStep };
}

import { consentStep } from '#web/connect/consent.ts';
import { type OpenedLink, openLink, type PersonVisit } from '#web/person/link-visit.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { CAP_TEXTS } from '#web/topup/texts.ts';
import { capPage, setCap } from '#web/topup/topup-cap.ts';
import { beginTopup, topupStep } from '#web/topup/topup-step.ts';
import { type PageAnswer, type PageMethods, redirectTo } from '#web/frame/visit.ts';
import type { Person } from '#identities/session.ts';

const CAP_IS_SET = 'cap=set';

/** Where the links of 402 answers lead (BI-04): consent where there is none, the cap where that refused, then amounts. */
export function topupPages(pages: PeoplePages): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/topup/:part': {
      GET: (visit) =>
        openTopup(pages, visit, (opened) => {
          const isAboutCap = opened.link.purpose === 'cap' && !opened.isForeign;
          return isAboutCap ? capPage(pages, visit, opened) : topupStep(pages, visit, stepOf(visit, opened));
        }),
    },
    '/topup/:part/cap': {
      GET: toLink,
      POST: (visit, form) =>
        openTopup(pages, visit, (opened) => (opened.isForeign ? toLink(visit) : setCap(pages, visit, opened, form))),
    },
    '/topup/:part/pay': {
      GET: (visit) =>
        openTopup(pages, visit, (opened) => {
          const isCapSet = visit.exchange.query === CAP_IS_SET && !opened.isForeign;
          const notice = isCapSet ? CAP_TEXTS.done(opened.app.name) : undefined;
          return topupStep(pages, visit, stepOf(visit, opened), { notice });
        }),
      POST: (visit, form) => openTopup(pages, visit, (opened) => beginTopup(pages, visit, form, stepOf(visit, opened))),
    },
  };
}

/** The page of the link itself, for addresses that only take its forms. */
function toLink({ part }: PersonVisit): PageAnswer {
  return redirectTo(`/topup/${part}`);
}

/** Goes on only with its owner's consent where the wallet is nobody else's. */
async function openTopup(
  pages: PeoplePages,
  visit: PersonVisit,
  goOn: (opened: OpenedLink) => Promise<PageAnswer> | PageAnswer,
): Promise<PageAnswer> {
  const opened = await openLink(pages, visit, 'topup');
  if ('status' in opened) return opened;
  const at = { path: `/topup/${visit.part}`, cancelPath: undefined };
  return (opened.isForeign ? undefined : consentStep(pages, visit, opened, at)) ?? goOn(opened);
}

function stepOf({ part }: PersonVisit, opened: OpenedLink) {
  return { opened, path: `/topup/${part}`, action: `/topup/${part}/pay`, next: undefined };
}

import type { Connection } from '#connections/connection.ts';
import type { Link } from '#connections/link.ts';
import { capPage, setCap } from '#http/pages/topup-cap.ts';
import { sandboxPage, voidLinkPage } from '#http/pages/link-pages.ts';
import type { PeoplePages } from '#http/pages/people-pages.ts';
import { CAP_TEXTS } from '#http/pages/texts/topup.ts';
import { toSignIn } from '#http/pages/then.ts';
import { beginTopup, type TopupStep, topupStep } from '#http/pages/topup-step.ts';
import { type PageAnswer, type PageMethods, redirectTo, type Visit } from '#http/pages/visit.ts';
import type { Identity, Person } from '#identities/session.ts';

/** A link in force, of a wallet that is there, with somebody who is signed in. */
export interface TopupVisit {
  readonly visit: Visit<Person>;
  readonly person: Person;
  readonly link: Link;
  readonly appName: string;
  readonly connection: Connection;
  readonly isOwner: boolean;
  /** The address of the link. */
  readonly path: string;
}

const PLACEHOLDER = 'sandbox';

/** Where the links of 402 answers lead (BI-04): consent where there is none, the cap where that refused, then amounts. */
export function topupPages(pages: PeoplePages): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/topup/:part': {
      GET: (visit) =>
        arrive(pages, visit, (topup) =>
          topup.link.purpose === 'cap' && topup.isOwner
            ? capPage(pages, topup)
            : topupStep(pages, visit, stepOf(topup)),
        ),
    },
    '/topup/:part/cap': {
      GET: toLink,
      POST: (visit, form) =>
        arrive(pages, visit, (topup) => (topup.isOwner ? setCap(pages, topup, form) : redirectTo(topup.path))),
    },
    '/topup/:part/pay': {
      GET: (visit) =>
        arrive(pages, visit, (topup) => {
          const isCapSet = visit.exchange.query === 'cap=set';
          const notice = isCapSet && topup.isOwner ? CAP_TEXTS.done(topup.appName) : undefined;
          return topupStep(pages, visit, stepOf(topup), { notice });
        }),
      POST: (visit, form) => arrive(pages, visit, (topup) => beginTopup(pages, visit, form, stepOf(topup))),
    },
  };
}

function toLink(visit: Visit<Person>): PageAnswer {
  return redirectTo(`/topup/${visit.part}`);
}

/** Goes on only by a link in force, signed in, to a wallet that its owner lets the app use, or that is somebody else's. */
async function arrive(
  pages: PeoplePages,
  visit: Visit<Person>,
  goOn: (topup: TopupVisit) => Promise<PageAnswer> | PageAnswer,
): Promise<PageAnswer> {
  if (visit.part === PLACEHOLDER) return sandboxPage(pages);
  const link = pages.links.read('topup', visit.part);
  if (link === undefined || (await pages.checkouts?.isSpent(link.digest)) === true) return voidLinkPage(pages);
  const app = await pages.apps.find(link.appId);
  if (app === undefined || app.isSuspended) return voidLinkPage(pages);
  const path = `/topup/${visit.part}`;
  const person = visit.signedIn;
  if (person === undefined) return toSignIn(path);
  const connection = await pages.connections.find(link.appId, link.userId);
  if (connection === undefined || needsConsent(connection, person.identity)) {
    return voidLinkPage(pages);
  }
  const isOwner = connection.identityId === person.identity.identityId;
  return goOn({ visit, person, link, appName: app.name, connection, isOwner, path });
}

function needsConsent({ identityId, wallet }: Connection, identity: Identity): boolean {
  return identityId === identity.identityId && !wallet.isConnected;
}

function stepOf({ person, link, appName, connection, path }: TopupVisit): TopupStep {
  const hold = link.purpose === 'connect' ? undefined : link.least;
  return { person, appName, connection, hold, linkDigest: link.digest, action: `${path}/pay`, next: undefined };
}

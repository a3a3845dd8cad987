import type { OperatorRole } from '@purser/contract/operator-access.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { Stats } from '#calls/stats/stats.ts';
import type { OperatorRules } from '#developers/operators/role.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import type { Html } from '#kernel/text/html.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { Act } from '#operator/acts/act.ts';
import type { Entity } from '#operator/look-up/entities.ts';
import type { Formats } from '#web/format/formats.ts';
import type { Form } from '#web/forms/form.ts';
import type { PageRequest, PageResponse } from '#web/frame/page.ts';
import type { Frame } from '#web/frame/page-shell.ts';
import type { AppNames, Query } from '#web/ops/frame/details.ts';
import type { OpsPageParts } from '#web/ops/frame/ops-page.ts';

/** What every page for operators acts on. */
export interface OpsServices {
  /** The same functions that the routes under `/operator` call. */
  readonly operator: OperatorPlane;
  readonly rules: OperatorRules;
  readonly stats: Stats;
  /** The catalogue in memory, which tells whether a model is served from here. */
  readonly catalogue: Pick<Catalogue, 'find'>;
  /** The currency of every wallet. */
  readonly currency: string;
  readonly clock: Clock;
  readonly frame: Frame;
}

/** One request for a page, by an operator who may see it, and how the page is written for them. */
export interface OpsRequest extends OpsServices {
  readonly request: PageRequest;
  readonly signedIn: SignedIn;
  readonly role: OperatorRole;
  readonly query: URLSearchParams;
  readonly formats: Formats;
  /** A field of the address without spaces around it. It is empty if the address does not have it. */
  readonly asks: (name: string) => string;
  /** Who acts and why, for the audit trail, as an API route says it. */
  readonly act: (reason: string | undefined) => Act;
  /** Whether this operator may send a form to a page, such as `wallet`. */
  readonly may: (page: string) => boolean;
  /** Whether there is such a page, and this operator may open it. */
  readonly mayOpen: (page: string) => boolean;
  /** A form to a page, or what stands in its place: the role is too low, or a fresh proof comes first. */
  readonly form: (
    page: string,
    fields: Html,
    options?: { readonly query?: Query | string; readonly hasFile?: boolean },
  ) => Html;
  readonly show: (page: OpsPageParts) => PageResponse;
  /** The page in place of something that is not there. `below`: the page that it would be below. */
  readonly showNoSuch: (below: string, message: string, title?: string) => PageResponse;
  readonly moment: (epochMs: number) => Html;
  /** An amount, exact to the micro. Without a currency, it is that of every wallet. */
  readonly amount: (amount: bigint, currency?: string) => string;
  /** Something as a link to its page, or as text where this operator may not open it. `name`: shown in place of its id. */
  readonly link: (entity: Entity, name?: string) => Html;
  /** An app by its name, with its id below: several apps may have one name. */
  readonly appLink: (appId: string, names: AppNames) => Html;
}

/** What a page for operators does for each method. */
export interface OpsPage {
  readonly GET?: (asked: OpsRequest) => Promise<PageResponse> | PageResponse;
  readonly POST?: (asked: OpsRequest, form: Form) => Promise<PageResponse> | PageResponse;
  /** The page that has this form, with the same query. It is set where there is no `GET`. */
  readonly formPage?: string;
  /**
   * How large the form of a page may be if it has a file, in bytes. It holds for an operator whose role suffices.
   * Others get the usual bound.
   */
  readonly formBytesMax?: number;
}

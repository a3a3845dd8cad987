import type { SignedIn } from '#developers/sessions/session.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import type { Html } from '#kernel/text/html.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import { type ActingRequest, type PageMethods, type PageResponse, showPage } from '#web/frame/page.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';

/** Everything that the pages of accounts act on. */
export interface AccountServices
  extends Pick<ControlPlane, 'accounts' | 'sessions' | 'isRegistrationOpen' | 'addressOf' | 'inBackground'> {
  readonly cookies: Cookies;
  /** The frame without the word about test money, because no money moves on these pages. */
  readonly frame: Frame;
}

export type AccountRequest = ActingRequest<SignedIn, AccountServices>;
export type AccountMethods = PageMethods<SignedIn, AccountRequest>;

interface AccountPage {
  readonly title: string;
  readonly body: Html;
  /** The page must show its message. The answer has its status. */
  readonly refusal?: Refusal | undefined;
  readonly goesTo?: string;
}

/** A page for people who are on their way in, and have no header of the console yet. */
export function showAccountPage({ services }: AccountRequest, { refusal, ...page }: AccountPage): PageResponse {
  return showPage(pageOf({ ...page, frame: services.frame, isError: refusal !== undefined }), refusal);
}

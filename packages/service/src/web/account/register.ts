import { registerSchema } from '@purser/contract/control.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AccountServices } from '#web/credentials/account-services.ts';
import { accountEmailField } from '#web/credentials/email-field.ts';
import { goOn, placeOf } from '#web/account/after-sign-in.ts';
import { newPasswordField } from '#web/credentials/password-fields.ts';
import { REGISTER_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { button } from '#web/components/button.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import type { PageMethods, PageRequest } from '#web/frame/page.ts';
import { pageOf } from '#web/frame/page-shell.ts';
import { redirectTo, showPage } from '#web/frame/responses.ts';

/** Makes an account and signs in to it at `/register`. The page is there only where the settings let anybody do so. */
export function registerPage(services: AccountServices): PageMethods {
  const { accounts, addressOf } = services;
  return {
    GET: (request) =>
      request.signedIn === undefined
        ? { status: 200, page: registerForm(services, request, '') }
        : redirectTo('/console'),
    POST: async (request, form) => {
      const from = addressOf(request.exchange.request);
      const email = form.field('email');
      const shown = (fault: Refusal) => showPage(registerForm(services, request, email, fault.message), fault);
      const typed = registerSchema.safeParse({ email, password: form.field('new-password') });
      if (!typed.success) return shown(refuse('BAD_REQUEST', TEXTS.unfit));
      const made = await accounts.register({ ...typed.data, name: undefined, role: 'owner', from });
      if (made instanceof Refusal) return shown(made);
      const signedIn = await accounts.signIn({ ...typed.data, ...placeOf(services, request) });
      // The account is there all the same: only the sign-in has to wait.
      return signedIn instanceof Refusal
        ? redirectTo('/sign-in')
        : goOn(services, request, signedIn, '/console?done=registered');
    },
  };
}

/** The form. It keeps the e-mail address that was typed, and never a password. */
function registerForm({ frame }: AccountServices, request: PageRequest, email: string, fault?: string): Html {
  const fields = html`${accountEmailField(TEXTS.email, email)}
${newPasswordField()}
${button(TEXTS.create)}`;
  const body = html`${errorSummary(fault)}
${card(html`<p>${TEXTS.what}</p>`, request.form('/register', fields))}
${linkLine('/sign-in', TEXTS.signIn)}`;
  return pageOf({ title: TEXTS.title, body, frame, isError: fault !== undefined });
}

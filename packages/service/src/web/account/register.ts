import { registerSchema } from '@purser/contract/control.ts';
import { html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type AccountMethods, type AccountRequest, showAccountPage } from '#web/credentials/account-services.ts';
import { goOn, placeOf } from '#web/account/after-sign-in.ts';
import { accountEmailField, newPasswordField } from '#web/credentials/credential-fields.ts';
import { REGISTER_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, card, linkLine } from '#web/components/parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';

/** Makes an account and signs in to it at `/register`. The page is there only where the settings let anybody do so. */
export const registerPage: AccountMethods = {
  GET: (request) => (request.signedIn === undefined ? registerForm(request, '') : redirectTo('/console')),
  POST: async (request, form) => {
    const { accounts, addressOf } = request.services;
    const from = addressOf(request.exchange.request);
    const email = form.field('email');
    const typed = registerSchema.safeParse({ email, password: form.field('new-password') });
    if (!typed.success) return registerForm(request, email, refuse('BAD_REQUEST', TEXTS.unfit));
    const made = await accounts.register({ ...typed.data, name: undefined, role: 'owner', from });
    if (made instanceof Refusal) return registerForm(request, email, made);
    const signedIn = await accounts.signIn({ ...typed.data, ...placeOf(request) });
    // The account is there all the same: only the sign-in has to wait.
    return signedIn instanceof Refusal ? redirectTo('/sign-in') : goOn(request, signedIn, '/console?done=registered');
  },
};

/** The form. It keeps the e-mail address that was typed, and never a password. */
function registerForm(request: AccountRequest, email: string, refusal?: Refusal): PageResponse {
  const fields = html`${accountEmailField(TEXTS.email, email)}
${newPasswordField()}
${button(TEXTS.create)}`;
  const body = html`${errorSummary(refusal?.message)}
${card(html`<p>${TEXTS.what}</p>`, request.form('/register', fields))}
${linkLine('/sign-in', TEXTS.signIn)}`;
  return showAccountPage(request, { title: TEXTS.title, body, refusal });
}

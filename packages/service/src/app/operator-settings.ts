import { email as emailSchema, newPassword } from '@purser/contract/control.ts';
import type { SettingsReader } from '#app/settings.ts';

/** The two settings belong together: one without the other is a mistake, and not half an operator. */
export function readOperator(
  settings: SettingsReader,
): { readonly email: string; readonly password: string } | undefined {
  const email = settings.text('PURSER_OPERATOR_EMAIL');
  const password = settings.text('PURSER_OPERATOR_PASSWORD');
  if (email === undefined && password === undefined) return undefined;
  if (!emailSchema.safeParse(email).success) {
    settings.complain(
      'PURSER_OPERATOR_EMAIL must be an e-mail address. Set it together with PURSER_OPERATOR_PASSWORD.',
    );
  }
  if (!newPassword.safeParse(password).success) {
    settings.complain(
      'PURSER_OPERATOR_PASSWORD must have 10 to 256 characters. Set it together with PURSER_OPERATOR_EMAIL.',
    );
  }
  return email === undefined || password === undefined ? undefined : { email, password };
}

/** The address for questions of end users. */
export function readSupportEmail(settings: SettingsReader): string | undefined {
  const value = settings.text('PURSER_SUPPORT_EMAIL');
  if (value !== undefined && !emailSchema.safeParse(value).success) {
    settings.complain('PURSER_SUPPORT_EMAIL must be an e-mail address.');
  }
  return value;
}

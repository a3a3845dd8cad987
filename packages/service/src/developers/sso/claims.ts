import { OPERATOR_ROLES, type OperatorRole } from '@purser/contract/operator-access.ts';
import { email as emailSchema } from '@purser/contract/control.ts';
import { normalisedEmail } from '#developers/accounts/email.ts';
import type { SsoSettings } from '#developers/sso/settings.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** What the provider says about a person. All of it is checked text of somebody else. */
export type Claims = Readonly<Record<string, unknown>>;

/** A person whom the provider has signed in. */
export interface SsoPerson {
  readonly issuer: string;
  readonly subject: string;
  /** The e-mail of the person. It is undefined if the provider has not verified it, or names none. */
  readonly email: string | undefined;
  readonly name: string | undefined;
  /** The role of the person. It is undefined if no value of the role claim is in the settings. */
  readonly role: OperatorRole | undefined;
  /** When they showed the provider who they are. Undefined if it does not say. */
  readonly authTimeMs: number | undefined;
}

const NAME_LENGTH_MAX = 100;
const SUBJECT = /^[\x20-\x7e]{1,255}$/; // OpenID Connect Core, section 2: at most 255 ASCII characters.

/** Reads claims whose token was checked. Refuses a person without a usable subject, or without the `acr` or `amr` that is required. */
export function personOf(claims: Claims, settings: SsoSettings): SsoPerson | Refusal<'FORBIDDEN'> {
  const { sub: subject, name, auth_time: authTime } = claims;
  if (typeof subject !== 'string' || !SUBJECT.test(subject)) {
    return refuse('FORBIDDEN', `${settings.name} named you by a \`sub\` that is not 1 to 255 ASCII characters.`);
  }
  const { required } = settings;
  if (required !== undefined && !textsOf(claims[required.claim]).some((value) => required.values.includes(value))) {
    return refuse(
      'FORBIDDEN',
      `You must sign in to ${settings.name} with a second factor. It has to send one of these as \`${required.claim}\`: ${required.values.map((value) => `\`${value}\``).join(', ')}.`,
    );
  }
  return {
    issuer: settings.issuer,
    subject,
    email: verifiedEmailOf(claims),
    name: typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, NAME_LENGTH_MAX) : undefined,
    role: roleOf(claims, settings),
    authTimeMs: typeof authTime === 'number' && Number.isFinite(authTime) ? authTime * 1_000 : undefined,
  };
}

/**
 * The signed claims, and those of the provider's answer about the person that are not among them. Whether an e-mail is verified is never
 * taken from one about another e-mail: at some providers, people write the `email` of their token themselves.
 */
export function mergedClaims(signed: Claims, asked: Claims): Claims {
  const isSameEmail = 'email' in signed && signed['email'] === asked['email'];
  const from = 'email' in signed ? signed : asked;
  const isVerified = from['email_verified'] ?? (isSameEmail ? asked['email_verified'] : undefined);
  return { ...asked, ...signed, email_verified: isVerified };
}

/** The highest role that the settings give to a value of the claim. A text is one value, and is not split. */
function roleOf(claims: Claims, { roleClaim, roles }: SsoSettings): OperatorRole | undefined {
  const held = new Set(textsOf(claims[roleClaim]).map((value) => roles.get(value)));
  return OPERATOR_ROLES.findLast((role) => held.has(role));
}

/** Only `true` counts: a text such as `"false"` must not. */
function verifiedEmailOf({ email, email_verified: isVerified }: Claims): string | undefined {
  if (isVerified !== true) return undefined;
  const checked = emailSchema.safeParse(email);
  return checked.success ? normalisedEmail(checked.data) : undefined;
}

function textsOf(value: unknown): readonly string[] {
  return [value].flat().filter((one): one is string => typeof one === 'string');
}

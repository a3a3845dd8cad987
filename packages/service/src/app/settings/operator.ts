import { email as emailSchema, newPassword } from '@purser/contract/control.ts';
import type { OperatorRole } from '@purser/contract/operator-access.ts';
import type { SettingsReader } from '#app/environment/settings-reader.ts';
import { type Micros, micros, MICROS_MAX, ZERO_MICROS } from '#kernel/values/micros.ts';
import type { MoneyBounds, RoleLimit } from '#operator/acts/money-limits.ts';

/** The operator account to create at start if it is missing. */
export interface OperatorSettings {
  readonly email: string;
  readonly password: string;
}

/** The roles that move money. */
const MOVERS = ['support', 'finance', 'admin'] as const;
type Limits = Readonly<Record<OperatorRole, RoleLimit>>;

const NO_BOUND: RoleLimit = { act: undefined, day: undefined };
const NOTHING: RoleLimit = { act: ZERO_MICROS, day: ZERO_MICROS };
const UNIT = 1_000_000;

/** The limits in production, in units of the currency: what one act moves, and what one operator moves in 24 hours. */
const USUAL: Limits = {
  viewer: NOTHING,
  support: limitOf(50, 200),
  finance: limitOf(1_000, 5_000),
  admin: limitOf(1_000, 5_000),
};
const UNBOUNDED: Limits = { viewer: NOTHING, support: NO_BOUND, finance: NO_BOUND, admin: NO_BOUND };
const USUAL_CREDIT = unitsOf(1_000);
const USUAL_SECOND_PERSON = unitsOf(500);

const FORM =
  'PURSER_OPERATOR_LIMITS must look like `support=50000000/200000000 finance=none`: a role (support, finance or admin), what it moves in one act and in 24 hours, in micros, or `none`.';

/** How much money operators may move (CP-07). Undefined when no setting bounds anything, as in development. */
export function readOperatorLimits(settings: SettingsReader, environment: string): MoneyBounds | undefined {
  const isProduction = environment === 'production';
  const ofRole = readRoles(settings, isProduction ? USUAL : UNBOUNDED);
  const creditMost = readBound(settings, 'PURSER_CREDIT_MAX_MICROS', isProduction ? USUAL_CREDIT : undefined);
  const usual = isProduction ? USUAL_SECOND_PERSON : undefined;
  const secondPersonAbove = readBound(settings, 'PURSER_SECOND_PERSON_MICROS', usual);
  const isBounded =
    creditMost !== undefined ||
    secondPersonAbove !== undefined ||
    MOVERS.some((role) => ofRole[role].act !== undefined || ofRole[role].day !== undefined);
  return isBounded ? { ofRole, creditMost, secondPersonAbove } : undefined;
}

function readRoles(settings: SettingsReader, usual: Limits): Limits {
  const given = settings.text('PURSER_OPERATOR_LIMITS')?.trim().split(/\s+/) ?? [];
  const read: Partial<Record<OperatorRole, RoleLimit>> = {};
  for (const text of given) {
    const [, name, act, day] = /^([a-z]+)=(?:none|(\d{1,16})\/(\d{1,16}))$/.exec(text) ?? [];
    const role = MOVERS.find((one) => one === name);
    const limit = act === undefined || day === undefined ? NO_BOUND : { act: amountOf(act), day: amountOf(day) };
    const isAmount = act === undefined || (limit.act !== undefined && limit.day !== undefined);
    if (role === undefined || !isAmount || read[role] !== undefined) {
      settings.complain(FORM);
      return usual;
    }
    read[role] = limit;
  }
  return { ...usual, ...read };
}

function readBound(settings: SettingsReader, name: string, usual: Micros | undefined): Micros | undefined {
  const value = settings.text(name);
  if (value === undefined) return usual;
  if (value === 'none') return undefined;
  const bound = /^\d{1,16}$/.test(value) ? amountOf(value) : undefined;
  if (bound === undefined) settings.complain(`${name} must be a whole number of micros, or \`none\`.`);
  return bound;
}

function amountOf(digits: string): Micros | undefined {
  const value = BigInt(digits);
  return value <= MICROS_MAX ? micros(value) : undefined;
}

function unitsOf(units: number): Micros {
  return micros(BigInt(units * UNIT));
}

function limitOf(act: number, day: number): RoleLimit {
  return { act: unitsOf(act), day: unitsOf(day) };
}

/** The two settings belong together: one without the other is a mistake, and not half an operator. */
export function readOperator(settings: SettingsReader): OperatorSettings | undefined {
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

import { z } from 'zod';
import { accountSchema, email, name, newPassword } from './control.ts';
import { accountId } from './identifiers.ts';
import { OPERATOR_ROLES } from './operator-access.ts';
import { reason } from './operator.ts';
import { nextPage, pageLimit } from './pages.ts';

/** Requests and answers about accounts, for operators (CP-05). */

const role = z.enum(['owner', 'operator']);
const operatorRole = z.enum(OPERATOR_ROLES).meta({
  description:
    'The role of an operator among operators (CP-07). An operator for whom none is named becomes an `admin`.',
});

const anyAccountSchema = accountSchema
  .extend({
    disabled: z.boolean(),
    sso: z
      .boolean()
      .meta({ description: 'Whether it signs in through the OpenID Connect provider. It then has no password.' }),
  })
  .meta({ id: 'AnyAccount' });
/** Takes exactly one change of an account, so that the audit trail names one act. */
export const changeAnyAccountSchema = z
  .strictObject({
    role: role.optional(),
    operatorRole: operatorRole.optional(),
    disabled: z.boolean().optional(),
    emailVerified: z
      .literal(true)
      .optional()
      .meta({ description: 'Vouches for the e-mail, so that the account needs no mail to verify it.' }),
    secondFactor: z.literal('none').optional().meta({
      description:
        'Removes every second factor and recovery code, for a person who has lost them all. Make sure that they are who they say they are.',
    }),
    sso: z.literal('none').optional().meta({
      description:
        'Ends the link to a person at the OpenID Connect provider. The account then has no password: its holder asks for a reset by mail. With the next sign-in at the provider it can be linked again.',
    }),
    reason,
  })
  .refine(
    ({ role: to, operatorRole: toOperator, disabled, emailVerified, secondFactor, sso }) =>
      [to ?? toOperator, disabled, emailVerified, secondFactor, sso].filter((change) => change !== undefined).length ===
      1,
    {
      path: ['role'],
      error:
        'send one of `role` or `operatorRole`, `disabled`, `emailVerified`, `secondFactor` and `sso`: each is an act of its own',
    },
  )
  .meta({
    description: 'The change of an account. It ends every session of the account, unless it vouches for the e-mail.',
  });
/** A change of an account. Exactly one of the fields is set, or both roles. */
export type AccountChange = Omit<z.output<typeof changeAnyAccountSchema>, 'reason'>;
export const newAnyAccountSchema = z
  .strictObject({
    email,
    password: newPassword,
    name: name.optional(),
    role,
    operatorRole: operatorRole.optional(),
  })
  .refine((account) => account.role === 'operator' || account.operatorRole === undefined, {
    path: ['operatorRole'],
    error: 'only accounts with `role: "operator"` have one',
  });

/** What each route about accounts takes and answers. */
export const ACCOUNT_ROUTES = {
  'GET /operator/accounts': {
    query: z.strictObject({
      after: z.string().max(64).optional().meta({ description: 'The `next` of the previous page.' }),
      limit: pageLimit(1_000, 1_000),
    }),
    answer: z.object({ accounts: z.array(anyAccountSchema), next: nextPage('after') }),
  },
  'GET /operator/accounts/{accountId}': {
    params: z.object({ accountId }),
    answer: z
      .object({
        account: anyAccountSchema,
        apps: z.array(
          z.object({
            appId: z.string(),
            name: z.string(),
            role: z.enum(['viewer', 'developer', 'owner']),
            status: z.enum(['active', 'suspended']),
          }),
        ),
      })
      .meta({ id: 'AnyAccountDetails' }),
  },
  'POST /operator/accounts': { body: newAnyAccountSchema, answer: accountSchema, status: 201 },
  'PATCH /operator/accounts/{accountId}': {
    params: z.object({ accountId }),
    body: changeAnyAccountSchema,
    answer: anyAccountSchema,
  },
} as const;

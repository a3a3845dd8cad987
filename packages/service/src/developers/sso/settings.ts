import type { OperatorRole } from '@purser/contract/operator-access.ts';

/** How operators sign in through an OpenID Connect provider. */
export interface SsoSettings {
  /** The issuer, as the provider writes it in its tokens. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The scopes asked for, separated by spaces. `openid` is among them. */
  readonly scopes: string;
  /** The claim that holds a person's groups or roles at the provider. */
  readonly roleClaim: string;
  /** What a value of that claim makes of a person. The highest role counts. */
  readonly roles: ReadonlyMap<string, OperatorRole>;
  /** A person must come with one of these values. If it is undefined, any value or none will do. */
  readonly required: { readonly claim: 'acr' | 'amr'; readonly values: readonly string[] } | undefined;
  /** What the provider is called on pages. */
  readonly name: string;
  /** Operators get in through the provider only. */
  readonly isOnly: boolean;
}

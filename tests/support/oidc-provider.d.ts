/** The part of `oidc-provider` that the tests use. The package has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface Context {
    readonly path: string;
    readonly req: IncomingMessage;
    readonly res: ServerResponse;
    status: number;
    body: unknown;
    readonly oidc: {
      readonly provider: Provider;
      readonly client: { readonly clientId: string };
      readonly session: { readonly accountId: string };
    };
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    readonly Grant: new (of: {
      clientId: string;
      accountId: string;
    }) => {
      readonly addOIDCScope: (scope: string) => void;
      readonly save: () => Promise<string>;
    };
    readonly callback: () => (request: IncomingMessage, response: ServerResponse) => void;
    readonly use: (middleware: (context: Context, next: () => Promise<void>) => Promise<void>) => void;
    readonly interactionResult: (
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options: { mergeWithLastSubmission: boolean },
    ) => Promise<string>;
  }
}

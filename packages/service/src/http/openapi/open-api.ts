import type { JsonObject } from '#kernel/text/json.ts';

/** The part of OpenAPI 3.1 that our document uses. */

/** One answer: its headers, and a schema for each content type. */
export interface Response {
  readonly description: string;
  readonly headers?: JsonObject;
  readonly content?: Readonly<Record<string, { readonly schema: JsonObject }>>;
}

/** A reference to a named part of the document. */
export interface Reference {
  readonly $ref: string;
}

/** A parameter in a path, a query or a header. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonObject;
}

/** One method of one path. */
export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly JsonObject[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: JsonObject }>>;
  };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: JsonObject;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  /** The requests that the service makes. */
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly securitySchemes: JsonObject;
    readonly headers: JsonObject;
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, JsonObject>>;
  };
}

import type { OpenApiDocument } from '../../packages/service/src/http/openapi/document.ts';

/** `/openapi.json` as it was sent. */
export function readDocument(text: string): OpenApiDocument {
  return JSON.parse(text) as OpenApiDocument;
}

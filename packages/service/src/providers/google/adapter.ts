import { keepAccessToken } from '#providers/google/access-tokens.ts';
import { fetchAccessToken } from '#providers/google/credentials.ts';
import { createGoogleDialect } from '#providers/google/dialect.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import type { Provider } from '#providers/provider.ts';
import { createTranslated } from '#providers/translated/translated.ts';
import type { VendorHttp } from '#providers/vendor-fetch.ts';

interface GeminiApiOptions {
  readonly http: VendorHttp;
  /** Up to and including the version. */
  readonly baseUrl: string;
  readonly key: KeySource | undefined;
}

/** Gemini models at the Gemini API, by an API key. */
export function createGeminiApi({ http, baseUrl, key }: GeminiApiOptions): Provider {
  return createTranslated({ http, dialect: createGoogleDialect({ kind: 'google', baseUrl, key }) });
}

interface VertexOptions {
  readonly http: VendorHttp;
  readonly readEnvironment: (name: string) => string | undefined;
  readonly project: string;
  readonly location: string;
  /** The origin of the service, if it is not Google's for this location. */
  readonly endpoint: string | undefined;
  readonly credentialsFile: string | undefined;
}

/** Gemini models on Vertex AI, by access tokens of a service account or a workload identity. */
export function createVertex({ http, project, location, endpoint, ...credentials }: VertexOptions): Provider {
  const tokens = keepAccessToken(() => fetchAccessToken({ http, project, ...credentials }));
  const key = { name: 'access token', isToken: true, current: tokens.current, refused: tokens.drop };
  const path = `projects/${project}/locations/${location}/publishers/google`;
  const baseUrl = `${endpoint ?? vertexOrigin(location)}/v1/${path}`;
  return createTranslated({ http, dialect: createGoogleDialect({ kind: 'vertex', baseUrl, key }) });
}

/** Google's host for a location: a region has its own, "global" has none in its name, and `us` and `eu` are their own kind. */
export function vertexOrigin(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  if (location === 'us' || location === 'eu') return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

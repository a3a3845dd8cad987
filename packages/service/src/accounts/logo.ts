import { jpegSize, pngSize, webpSize } from '#accounts/picture-size.ts';
import { deleteLogo, selectLogoByDigest, upsertLogo } from '#accounts/queries.ts';
import type { Queryable } from '#db/pool.ts';
import { sha256 } from '#kernel/crypto.ts';
import type { AppId } from '#kernel/ids.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

interface Logo {
  readonly type: LogoType;
  readonly image: Buffer;
}

/** No SVG: that is a document, which may hold scripts. */
type LogoType = 'image/png' | 'image/jpeg' | 'image/webp';

/** Pictures of apps. Who may change which is the caller's business. */
export interface Logos {
  /** Gives the digest by which it is found. */
  readonly set: (appId: AppId, logo: Logo) => Promise<string>;
  /** One that is not there is gone, too. */
  readonly remove: (appId: AppId) => Promise<void>;
  readonly find: (digest: string) => Promise<Logo | undefined>;
}

export function createLogos(db: Queryable): Logos {
  return {
    set: async (appId, logo) => {
      const digest = sha256(logo.image);
      await upsertLogo(db, { appId, digest, ...logo });
      return digest.toString('hex');
    },
    remove: (appId) => deleteLogo(db, appId),
    find: (digest) => selectLogoByDigest(db, Buffer.from(digest, 'hex')),
  };
}

const LOGO_BYTES_MAX = 16_384;
/** A few bytes may be a picture that fills the memory of whoever looks at a page. */
const LOGO_PIXELS_MAX = 1_024;
const SIZE_OF = { 'image/png': pngSize, 'image/jpeg': jpegSize, 'image/webp': webpSize } as const;
const DATA_URL = /^data:(image\/(?:png|jpeg|webp));base64,([A-Za-z0-9+/]+={0,2})$/;

/** Reads a picture out of a `data:` address. What it is, its first bytes say; the address must say the same. */
export function readLogo(text: string): Logo | Refusal<'BAD_REQUEST'> {
  const [, type, base64 = ''] = DATA_URL.exec(text) ?? [];
  const image = Buffer.from(base64, 'base64');
  if (type === undefined || image.toString('base64') !== base64) {
    return notLogo('is `data:image/png;base64,...`; `image/jpeg` and `image/webp` are taken too');
  }
  if (image.length > LOGO_BYTES_MAX) return notLogo(`has at most ${LOGO_BYTES_MAX} bytes`);
  const found = typeOf(image);
  if (found !== type) return notLogo('is not the kind of picture that it says');
  const { width, height } = SIZE_OF[found](image) ?? { width: 0, height: 0 };
  const isShown = width > 0 && height > 0 && width <= LOGO_PIXELS_MAX && height <= LOGO_PIXELS_MAX;
  if (!isShown) return notLogo(`is a whole picture of at most ${LOGO_PIXELS_MAX} pixels each way`);
  return { type: found, image };
}

function typeOf(image: Buffer): LogoType | undefined {
  const startsWith = (bytes: string, at = 0) => image.toString('latin1', at, at + bytes.length) === bytes;
  if (startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (startsWith('\xff\xd8\xff')) return 'image/jpeg';
  return startsWith('RIFF') && startsWith('WEBP', 8) ? 'image/webp' : undefined;
}

function notLogo(what: string): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', `\`image\` ${what}.`, { param: 'image' });
}

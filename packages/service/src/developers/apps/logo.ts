import { jpegSize, pngSize, webpSize } from '#developers/apps/picture-size.ts';
import { deleteLogo, selectLogoByDigest, selectLogoDigest, upsertLogo } from '#developers/apps/queries.ts';
import { type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

interface Logo {
  readonly type: LogoType;
  readonly image: Buffer;
}

/** SVG is not accepted: it is a document and may hold scripts. */
type LogoType = 'image/png' | 'image/jpeg' | 'image/webp';

/** The logos of apps. The caller of these functions checks who may change which. */
export interface Logos {
  /** Stores an app's logo and returns the digest by which it is found. */
  readonly set: (owner: Owner, appId: AppId, logo: Logo) => Promise<string>;
  /** Removes an app's logo. Does nothing when there is none. */
  readonly remove: (owner: Owner, appId: AppId) => Promise<void>;
  readonly find: (digest: string) => Promise<Logo | undefined>;
  /** The digest of an app's logo. Undefined if it has none. */
  readonly digestOf: (appId: AppId) => Promise<string | undefined>;
}

export function createLogos(pool: Pool): Logos {
  return {
    set: async (owner, appId, logo) => {
      const digest = sha256(logo.image);
      await inTransaction(pool, async (tx) => {
        await upsertLogo(tx, { appId, digest, ...logo });
        const after = { digest: digest.toString('hex') };
        await insertAuditEntry(tx, ownersEntry(owner, { action: 'app.logo', subject: appId, appId, after }));
      });
      return digest.toString('hex');
    },
    remove: (owner, appId) =>
      inTransaction(pool, async (tx) => {
        await deleteLogo(tx, appId);
        await insertAuditEntry(tx, ownersEntry(owner, { action: 'app.logo-remove', subject: appId, appId }));
      }),
    find: (digest) => selectLogoByDigest(pool, Buffer.from(digest, 'hex')),
    digestOf: async (appId) => (await selectLogoDigest(pool, appId))?.toString('hex'),
  };
}

const LOGO_BYTES_MAX = 16_384;
/** A few compressed bytes can unpack to a picture that fills the memory of a visitor's browser. */
const LOGO_PIXELS_MAX = 1_024;
const SIZE_OF = { 'image/png': pngSize, 'image/jpeg': jpegSize, 'image/webp': webpSize } as const;
const DATA_URL = /^data:(image\/(?:png|jpeg|webp));base64,([A-Za-z0-9+/]+={0,2})$/;

/**
 * Reads a picture from a `data:` URL. Its first bytes decide what it is, and the URL must say the same: browsers sniff
 * content, so a mislabelled file could be read as something other than a picture.
 */
export function readLogo(text: string): Logo | Refusal<'BAD_REQUEST'> {
  const [, type, base64 = ''] = DATA_URL.exec(text) ?? [];
  const image = Buffer.from(base64, 'base64');
  // Node skips what is not base64. Encoding the bytes again shows whether the text was exactly these bytes.
  if (type === undefined || image.toString('base64') !== base64) {
    return notLogo('must be `data:image/png;base64,...`, or the same with `image/jpeg` or `image/webp`');
  }
  return pictureOf(image, type);
}

/** Reads a picture from its bytes. `type`: what its sender says that it is. */
export function pictureOf(image: Buffer, type?: string): Logo | Refusal<'BAD_REQUEST'> {
  if (image.length > LOGO_BYTES_MAX) return notLogo(`must have at most ${LOGO_BYTES_MAX} bytes`);
  const found = typeOf(image);
  if (found === undefined || (type !== undefined && found !== type)) {
    return notLogo(
      type === undefined ? 'must be PNG, JPEG or WebP' : 'is not the kind of picture that its media type says',
    );
  }
  const { width, height } = SIZE_OF[found](image) ?? { width: 0, height: 0 };
  const isShown = width > 0 && height > 0 && width <= LOGO_PIXELS_MAX && height <= LOGO_PIXELS_MAX;
  if (!isShown) return notLogo(`must be a complete picture of at most ${LOGO_PIXELS_MAX} pixels in each direction`);
  return { type: found, image };
}

/** Recognises a picture by its signature. WebP is a RIFF container, so both names must be there. */
function typeOf(image: Buffer): LogoType | undefined {
  const startsWith = (bytes: string, at = 0) => image.toString('latin1', at, at + bytes.length) === bytes;
  if (startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (startsWith('\xff\xd8\xff')) return 'image/jpeg';
  return startsWith('RIFF') && startsWith('WEBP', 8) ? 'image/webp' : undefined;
}

function notLogo(what: string): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', `\`image\` ${what}.`, { param: 'image' });
}

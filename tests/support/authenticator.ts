// A passkey in software: the answers of a browser and its authenticator to a page's options. Real keys, hand-written CBOR.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign, type webcrypto } from 'node:crypto';

/** The options that a page passes to a browser, as far as they matter here. */
interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

/** Deviations from the options. */
export interface Oddity {
  readonly type?: string;
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly isVerified?: boolean;
  readonly isPresent?: boolean;
  readonly userHandle?: string;
  readonly signCount?: number;
  readonly algorithm?: number;
  readonly attestation?: { readonly fmt: string; readonly statement: readonly (readonly [string, Cbor])[] };
  /** An attestation of the authenticator, although none was requested. */
  readonly maker?: { readonly key: KeyObject; readonly certificate: Buffer };
  readonly signedBy?: KeyObject;
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

type Cbor = number | string | Buffer | readonly Cbor[] | ReadonlyMap<Cbor, Cbor>;

const ORIGIN = 'https://purser.test';
const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;
const CREDENTIAL_ID_BYTES = 32;
const AAGUID = Buffer.alloc(16);

/** With `countsUses`, it counts like a security key. Other authenticators always say zero. */
export function createAuthenticator({
  algorithm = 'ES256',
  countsUses = false,
}: {
  readonly algorithm?: 'ES256' | 'EdDSA' | 'RS256';
  readonly countsUses?: boolean;
} = {}) {
  const { privateKey, publicKey } = keysOf(algorithm);
  const rawId = randomBytes(CREDENTIAL_ID_BYTES);
  const credentialId = rawId.toString('base64url');
  let uses = 0;
  let userHandle: string | undefined;

  function authenticatorData(rpId: string, oddity: Oddity, more: readonly Buffer[]): Buffer {
    const { isPresent = true, isVerified = true } = oddity;
    uses += countsUses ? 1 : 0;
    const flags = (isPresent ? PRESENT : 0) | (isVerified ? VERIFIED : 0) | (more.length > 0 ? HAS_CREDENTIAL : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(oddity.signCount ?? uses);
    return Buffer.concat([sha256(oddity.rpId ?? rpId), Buffer.from([flags]), count, ...more]);
  }

  return {
    credentialId,
    create: ({ challenge, rp, user }: Options, oddity: Oddity = {}) => {
      userHandle = user?.id;
      const key = publicKey.export({ format: 'jwk' });
      const length = Buffer.alloc(2);
      length.writeUInt16BE(rawId.length);
      const data = authenticatorData(rp?.id ?? '', oddity, [
        AAGUID,
        length,
        rawId,
        encoded(coseOf(key, oddity.algorithm)),
      ]);
      const client = clientData('webauthn.create', challenge, oddity);
      const vouched = oddity.maker && vouchedFor(oddity.maker, Buffer.concat([data, sha256(client)]));
      const { fmt, statement } = vouched ?? oddity.attestation ?? { fmt: 'none', statement: [] };
      const attestation = new Map<Cbor, Cbor>([
        ['fmt', fmt],
        ['attStmt', new Map(statement)],
        ['authData', data],
      ]);
      return JSON.stringify({
        ...namesOf(credentialId),
        response: {
          clientDataJSON: client.toString('base64url'),
          attestationObject: encoded(attestation).toString('base64url'),
          transports: ['internal'],
        },
      });
    },
    get: ({ challenge, rpId = '' }: Options, oddity: Oddity = {}) => {
      const client = clientData('webauthn.get', challenge, oddity);
      const data = authenticatorData(rpId, oddity, []);
      const digest = algorithm === 'EdDSA' ? null : 'sha256';
      const signature = sign(digest, Buffer.concat([data, sha256(client)]), oddity.signedBy ?? privateKey);
      return JSON.stringify({
        ...namesOf(credentialId),
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: oddity.userHandle ?? userHandle,
        },
      });
    },
  };
}

function vouchedFor({ key, certificate }: NonNullable<Oddity['maker']>, signed: Buffer): Oddity['attestation'] {
  const statement = [
    ['alg', -7],
    ['sig', sign('sha256', signed, key)],
    ['x5c', [certificate]],
  ] as const;
  return { fmt: 'packed', statement };
}

function namesOf(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, authenticatorAttachment: 'platform' };
}

function clientData(type: string, challenge: string, oddity: Oddity): Buffer {
  const data = { type: oddity.type ?? type, challenge: oddity.challenge ?? challenge, origin: oddity.origin ?? ORIGIN };
  return Buffer.from(JSON.stringify({ ...data, crossOrigin: false }));
}

function keysOf(algorithm: 'ES256' | 'EdDSA' | 'RS256') {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

function bytes(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}

/** The public key in COSE format (RFC 9053). `algorithm`: a wrong algorithm to claim. */
function coseOf(
  { kty, x = '', y = '', n = '', e = '' }: webcrypto.JsonWebKey,
  algorithm?: number,
): ReadonlyMap<Cbor, Cbor> {
  if (kty === 'EC')
    return new Map<Cbor, Cbor>([
      [1, 2],
      [3, algorithm ?? -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]);
  if (kty === 'OKP')
    return new Map<Cbor, Cbor>([
      [1, 1],
      [3, algorithm ?? -8],
      [-1, 6],
      [-2, bytes(x)],
    ]);
  return new Map<Cbor, Cbor>([
    [1, 3],
    [3, algorithm ?? -257],
    [-1, bytes(n)],
    [-2, bytes(e)],
  ]);
}

/** Encodes a value as CBOR (RFC 8949): integers, texts, bytes, arrays and maps. */
function encoded(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<Cbor, Cbor>)].flat(1) as readonly Cbor[];
    return Buffer.concat([head(5, value.size), ...entries.map(encoded)]);
  }
  const items = value as readonly Cbor[];
  return Buffer.concat([head(4, items.length), ...items.map(encoded)]);
}

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

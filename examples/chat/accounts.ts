import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

/** Somebody who has an account of this app. */
export interface Account {
  readonly name: string;
  /** Purser knows the user by this id. It is not the name: if somebody takes a name again, they must not get its last owner's wallet. */
  readonly userId: string;
}

interface Kept extends Account {
  readonly salt: string;
  readonly hash: string;
}

const NAME_MAX = 80;
/** Characters that are invisible, or that turn the text around them. Purser shows the name to the person who connects a wallet, and refuses such text as `userLabel`. */
const MISLEADING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
/** Text of which a reader sees something. */
const SEEN = /[^\s\u2800\p{Default_Ignorable_Code_Point}]/u;
const PASSWORD_MIN = 8;
const PASSWORD_MAX = 200;
const HASH_BYTES = 32;
const derive = promisify<string, string, number, Buffer>(scrypt);

export interface Accounts {
  /** Returns the account of this name, which is made if there is none, or a text that says what is wrong. */
  readonly signIn: (name: string, password: string) => Promise<Account | string>;
}

/** Accounts in a file of this folder: wallets last longer than this process, so whom they belong to must too. */
export function openAccounts(folder: string): Accounts {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'example-chat.json');
  const accounts = new Map(readKept(file).map((account) => [account.name, account]));
  return {
    signIn: async (given, password) => {
      const name = given.normalize('NFC').trim();
      if (!SEEN.test(name) || name.length > NAME_MAX) return `Enter a name of up to ${NAME_MAX} characters.`;
      if (MISLEADING.test(name)) {
        return 'Enter a name without control characters and without characters that change the direction of text.';
      }
      if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX) {
        return `Enter a password of ${PASSWORD_MIN} characters or more.`;
      }
      const salt = accounts.get(name)?.salt ?? randomBytes(16).toString('base64url');
      const hash = await derive(password, salt, HASH_BYTES);
      const known = accounts.get(name); // Looked up once more: somebody else may have taken the name meanwhile.
      if (known !== undefined) {
        const isSame = known.salt === salt && timingSafeEqual(hash, Buffer.from(known.hash, 'base64url'));
        return isSame ? known : 'This name is taken, and its password is a different one.';
      }
      const userId = `chat_${randomBytes(12).toString('base64url')}`;
      const made = { name, userId, salt, hash: hash.toString('base64url') };
      keep(file, [...accounts.values(), made]);
      accounts.set(name, made);
      return made;
    },
  };
}

/** Writes a new file and renames it: after a crash the file is complete, either the old one or the new one. */
function keep(file: string, accounts: readonly Kept[]): void {
  const beside = `${file}.new`;
  writeFileSync(beside, `${JSON.stringify(accounts, undefined, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(beside, file);
}

function readKept(file: string): readonly Kept[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as readonly Kept[]; // Written above.
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return [];
    throw fault;
  }
}

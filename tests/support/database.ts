import { randomBytes } from 'node:crypto';
import { createPool, emailsOf, type Pool, type Queryable } from '../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { EMAIL_SEAL } from './keys.ts';

export const TEMPLATE_DATABASE = 'purser_template';

/** A separate database for a test on the run's PostgreSQL server, with the schema and nothing else. */
export interface TestDatabase {
  readonly url: string;
  /** Acts as the owner of everything. For setting up and inspecting, never for the tested code. */
  readonly owner: Pool;
  readonly close: () => Promise<void>;
}

const log = createLog('silent');
const OBJECT_IN_USE = '55006';
/** Longer than the service waits for a connection, because the machine may be busy. */
export const CONNECT_MS_MAX = 60_000;

interface DatabaseOptions {
  readonly isEmpty?: boolean;
  /** A server other than the run's. It has no template, so the database is empty. */
  readonly server?: string | undefined;
}

export async function createTestDatabase(options: DatabaseOptions = {}): Promise<TestDatabase> {
  const { server = process.env['PURSER_TEST_SERVER'], isEmpty = options.server !== undefined } = options;
  if (server === undefined) throw new Error('There is no test server. Run the tests with `npm test`.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = patient(createPool({ url: server, role: 'owner', connectionsMax: 1, log }));
  await createDatabase(admin, name, isEmpty ? 'template0' : TEMPLATE_DATABASE);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const owner = patient(createPool({ url: url.href, role: 'owner', connectionsMax: 4, log, emails: EMAIL_SEAL }));
  return {
    url: url.href,
    owner,
    close: async () => {
      await owner.end();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

function patient(pool: Pool): Pool {
  pool.options.connectionTimeoutMillis = CONNECT_MS_MAX;
  return pool;
}

/** An address as the tables have it, for statements of tests. */
export function sealedEmail(email = ''): string {
  return EMAIL_SEAL.seal(email);
}

/** Changes the row of the account with this address in a way that the service does not. */
export async function setAccount(db: Queryable, email: string, assignment: string): Promise<void> {
  await db.query(`update accounts.accounts set ${assignment} where email = $1`, [sealedEmail(email)]);
}

/** Changes the mails to this address in a way that the service does not. */
export async function setMails(db: Queryable, email: string, assignment: string): Promise<void> {
  await db.query(`update mail.messages set ${assignment} where sealed_recipient = $1`, [sealedEmail(email)]);
}

interface StoredMail {
  readonly subject: string;
  readonly body: string | null;
  readonly html: string | null;
}

/** The mails to an address, the oldest first, as their reader gets them. */
export async function mailsTo(db: Queryable, email: string): Promise<readonly StoredMail[]> {
  const { rows } = await db.query<StoredMail>(
    'select subject, body, html from mail.messages where sealed_recipient = $1 order by message_id',
    [sealedEmail(email)],
  );
  const { open } = emailsOf(db);
  return rows.map(({ subject, body, html }) => ({
    subject: open(subject),
    body: body === null ? null : open(body),
    html: html === null ? null : open(html),
  }));
}

/** Creates a database. Copying a template fails while another session copies it, so it is tried again. */
async function createDatabase(admin: Pool, name: string, template: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await admin.query(`create database ${name} template ${template} strategy file_copy`);
      return;
    } catch (fault) {
      const isBusy = fault instanceof Error && 'code' in fault && fault.code === OBJECT_IN_USE;
      if (!isBusy || attempt === 50) throw fault;
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    }
  }
}

import { type AuditRow, openEntry } from '#audit/queries.ts';
import { emailsOf, type Queryable } from '#db/pool/pool.ts';
import type { EmailSeal } from '#kernel/values/email-seal.ts';
import type { AppId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';

/** What a list of entries is narrowed to. All that are given must fit. */
export interface EntryFilter {
  /** An actor, or the e-mail of one. */
  readonly who?: string | undefined;
  /** One action, or all of a kind, such as `wallet`. */
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  /** Acts on this app and on wallets of its users. */
  readonly appId?: AppId | undefined;
  readonly from?: Date | undefined;
  /** The end of the time span, which does not belong to it. */
  readonly to?: Date | undefined;
  readonly amountFrom?: Micros | undefined;
  readonly amountTo?: Micros | undefined;
}

export interface FoundEntry extends AuditRow {
  readonly app_id: AppId | null;
  /** The number of the link. It is null until the entry is in the chain. */
  readonly link_no: bigint | null;
  readonly hash: Buffer | null;
}

/** Numbers of entries are given out in the order of their times, give or take the length of a statement. */
const MARGIN = `interval '1 minute'`;

/**
 * Lists the entries that fit, the newest first, from the one before `page.before`. Each filter but the amounts has an index in the
 * order of the list. The two moments become numbers of entries, so that a range long ago is not searched from now back.
 */
export async function selectFoundEntries(
  db: Queryable,
  filter: EntryFilter,
  page: { readonly before: bigint | undefined; readonly most: number },
): Promise<readonly FoundEntry[]> {
  const values: unknown[] = [];
  const set = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    ...conditionsOf(filter, set, emailsOf(db)),
    ...(page.before === undefined ? [] : [`e.entry_id < ${set(page.before)}`]),
  ];
  const { rows } = await db.query<FoundEntry>(
    `select e.entry_id, e.at, e.actor, e.actor_name, e.action, e.subject, e.reason, e.app_id, e.amount_micros, e.before,
       e.after, a.address, l.link_no, l.hash
     from audit.entries e
     left join audit.addresses a on a.entry_id = e.entry_id left join audit.links l on l.entry_id = e.entry_id
     ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
     order by e.entry_id desc limit ${set(page.most)}`,
    values,
  );
  return rows.map((row) => openEntry(db, row));
}

function conditionsOf(
  filter: EntryFilter,
  set: (value: unknown) => string,
  { seal }: Pick<EmailSeal, 'seal'>,
): readonly string[] {
  const { who, action, subject, appId, from, to, amountFrom, amountTo } = filter;
  const conditions: string[] = [];
  if (who?.includes('@') === true) conditions.push(`e.actor_name = ${set(seal(who))}`);
  else if (who !== undefined) conditions.push(`e.actor = ${set(who)}`);
  if (action !== undefined) {
    const isOne = action.includes('.');
    // Of a kind: all that begin with it and a dot. After the dot comes the slash.
    conditions.push(
      isOne ? `e.action = ${set(action)}` : `e.action >= ${set(`${action}.`)} and e.action < ${set(`${action}/`)}`,
    );
  }
  if (subject !== undefined) conditions.push(`e.subject = ${set(subject)}`);
  if (appId !== undefined) {
    // The subject of an act on a wallet is the app, a space and the user. After the space comes the exclamation mark.
    const [app, first, end] = [set(appId), set(`${appId} `), set(`${appId}!`)];
    const isOwners = `e.app_id = ${app} and e.account_id is not null`;
    conditions.push(`(e.subject = ${app} or e.subject >= ${first} and e.subject < ${end} or ${isOwners})`);
  }
  if (from !== undefined) {
    const at = `${set(from)}::timestamptz`;
    const last = `select entry_id from audit.entries where at < ${at} - ${MARGIN} order by at desc limit 1`;
    conditions.push(`e.at >= ${at}`, `e.entry_id >= coalesce((${last}), 0)`);
  }
  if (to !== undefined) {
    const at = `${set(to)}::timestamptz`;
    const first = `select entry_id from audit.entries where at > ${at} + ${MARGIN} order by at limit 1`;
    conditions.push(`e.at < ${at}`, `e.entry_id <= coalesce((${first}), ${LAST})`);
  }
  if (amountFrom !== undefined) conditions.push(`e.amount_micros >= ${set(amountFrom)}`);
  if (amountTo !== undefined) conditions.push(`e.amount_micros <= ${set(amountTo)}`);
  return conditions;
}

const LAST = 9_223_372_036_854_775_807n;

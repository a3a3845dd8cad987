import type { MovedTable } from '#db/records/moved-rows.ts';

const ITS_USER = '(t.app_id, t.user_id) in (select * from unnest($1::text[], $2::text[]))';
const CONNECTIONS = `select c.connection_id from connections.connections c where ${ITS_USER.replaceAll('t.', 'c.')}`;

/** What moves with the wallets of users, in an order in which rows can be added. */
export const MOVED_CONNECTIONS: readonly MovedTable[] = [
  { name: 'connections.connections', of: ITS_USER },
  { name: 'connections.alerts', of: `t.connection_id in (${CONNECTIONS})` },
  { name: 'connections.releases', of: ITS_USER },
];

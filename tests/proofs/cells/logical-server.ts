import { startTunedServer } from '../../support/tuned-server.ts';

/** The settings let all tables be copied at once: with the defaults it takes a minute. */
const SETTINGS = {
  wal_level: 'logical',
  wal_retrieve_retry_interval: '100ms',
  max_worker_processes: '40',
  max_logical_replication_workers: '32',
  max_sync_workers_per_subscription: '30',
  max_replication_slots: '40',
  max_wal_senders: '40',
};

/** A PostgreSQL server whose databases can be copied from, which the server of the run cannot. */
export const startLogicalServer = () => startTunedServer({ settings: SETTINGS, isThrowaway: true });

// The files of deploy/ha as the machines of a cell have them: as they are, apart from names, addresses, passwords and paths.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Environment, deployEnvironment, deployText } from '../../support/deploy-files.ts';

/** The addresses of the files in deploy/ha. */
export const DATABASES = { db1: '10.0.0.11', db2: '10.0.0.12', db3: '10.0.0.13' } as const;
export const ETCD = { etcd1: '10.0.0.31', etcd2: '10.0.0.32', etcd3: '10.0.0.33' } as const;
export const COPY = { name: 'copy', address: '10.0.0.41' } as const;
export const GATEWAYS = { gateway1: '10.0.0.21', gateway2: '10.0.0.22', gateway3: '10.0.0.23' } as const;

/** Any password will do: it guards what a run throws away. */
export const PASSWORD = 'a-password-of-the-failover-run';

interface Place {
  readonly name: string;
  readonly address: string;
  /** Where this machine keeps everything. */
  readonly directory: string;
}

export function etcdEnvironment({ name, address, directory }: Place): Environment {
  const own = deployEnvironment('ha/etcd.env');
  const changed = Object.entries(own).map(([key, value]) => [
    key,
    key === 'ETCD_INITIAL_CLUSTER' ? value : value.replace(/^etcd1$/, name).replace(ETCD.etcd1, address),
  ]);
  return { ...Object.fromEntries(changed), ETCD_DATA_DIR: path.join(directory, 'etcd') };
}

/** What Patroni's variables add to deploy/ha/patroni.yml, which needs no other change. */
export function patroniEnvironment({ name, address, directory }: Place, postgres: string): Environment {
  const own = deployEnvironment('ha/patroni.env');
  const changed = Object.entries(own).map(([key, value]) => [
    key,
    value.replace(/^db1$/, name).replace(DATABASES.db1, address).replace('change-me', PASSWORD),
  ]);
  return {
    ...Object.fromEntries(changed),
    PATRONI_POSTGRESQL_BIN_DIR: postgres,
    PATRONI_POSTGRESQL_DATA_DIR: path.join(directory, 'data'),
    PATRONI_POSTGRESQL_PGPASS: path.join(directory, 'pgpass'),
    PYTHONUNBUFFERED: '1',
  };
}

/** Returns the environment with which `patronictl` may change something. */
export function restApiEnvironment(): Environment {
  const own = Object.entries(deployEnvironment('ha/patroni.env'));
  const named = own.filter(([key]) => /^PATRONI_RESTAPI_(USERNAME|PASSWORD)$/.test(key));
  return Object.fromEntries(named.map(([key, value]) => [key, value.replace('change-me', PASSWORD)]));
}

export interface PatroniVariant {
  /**
   * Whether replication is synchronous. If it is false, calls are lost: only with that does a run show that it would
   * notice.
   */
  readonly isSynchronous: boolean;
  /** Another cell copies the directory: what the file says of that is taken in, apart from the slot, which needs the database. */
  readonly isCopied: boolean;
}

/** Writes deploy/ha/patroni.yml for all nodes. */
export function writePatroniFile(directory: string, { isSynchronous, isCopied }: PatroniVariant): string {
  let text = deployText('ha/patroni.yml');
  if (!isSynchronous) {
    text = text
      .replace('synchronous_mode: true', 'synchronous_mode: false')
      .replace('synchronous_mode_strict: true', '');
  }
  if (isCopied) {
    text = text
      .replace('wal_level: replica', 'wal_level: logical')
      .replace('# - host purser copier', '- host purser copier');
  }
  return write(directory, 'patroni.yml', text);
}

/** Writes the file without the user of Debian's package, whom a namespace does not know. */
export function writeHaproxyFile(directory: string): string {
  return write(directory, 'haproxy.cfg', deployText('ha/haproxy.cfg').replace(/^ +(user|group) haproxy\n/gm, ''));
}

function write(directory: string, name: string, text: string): string {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, name);
  writeFileSync(file, text);
  return file;
}

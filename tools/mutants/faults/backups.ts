import type { Mutant } from '../mutant.ts';
import {
  archiving,
  backingUp,
  backupFolder,
  copies,
  doctorCall,
  keptSettlements,
  publicAddress,
  reaching,
  restoring,
  runningBackups,
  tarFiles,
  timelines,
} from './places.ts';

const RESTORE = runningBackups('OP-09 a restore goes back to a moment');

/** Faults by which a backup is worth nothing, two copies of the books run at once, or the doctor sees what is not there. */
export const BACKUP_FAULTS: readonly Mutant[] = [
  {
    id: 'pruning-takes-the-log-that-a-backup-needs',
    clause: 'OP-09',
    edits: [backupFolder('part.slice(8) < first', 'part.slice(8) <= first')],
    killer: backingUp('OP-09 pruning backups keeps the log the oldest needs'),
  },
  {
    id: 'pruning-looks-at-the-oldest-backup-only',
    clause: 'OP-09',
    edits: [backupFolder('.slice(8)).toSorted()', '.slice(8))')],
    killer: backingUp('OP-09 pruning backups keeps an earlier restore’s log'),
  },
  {
    id: 'restore-brings-back-what-was-given-up',
    clause: 'OP-09',
    edits: [timelines('positionOf(record.endLsn) <= end', 'end > 0n')],
    killer: backingUp('OP-09 a restore follows the latest timeline from a matching backup'),
  },
  {
    id: 'new-timeline-is-not-archived',
    clause: 'OP-09',
    edits: [archiving('    ...HOLDING_SETTINGS,\n    recovery_target', '    recovery_target')],
    killer: RESTORE,
  },
  {
    id: 'settlement-that-vanishes-ends-the-copying',
    clause: 'OP-09',
    edits: [keptSettlements('if (isCopied === true)', 'if (isCopied === undefined) return;\n      if (isCopied)')],
    killer: backingUp('OP-09 WA-17 vanishing files do not stop copying, and restores overwrite nothing'),
  },
  {
    id: 'archive-entry-leaves-its-folder',
    clause: 'OP-09',
    edits: [tarFiles("name.split('/').includes('..')", "name.includes('///')")],
    killer: backingUp('OP-09 an archive is unpacked whole inside its folder or refused'),
  },
  {
    id: 'damaged-file-is-restored',
    clause: 'OP-09',
    edits: [restoring('one.digest !== digest', 'one.digest.length !== digest.length')],
    killer: RESTORE,
  },
  {
    id: 'restore-under-another-secret',
    clause: 'OP-09',
    edits: [restoring('fingerprint !== null && !hasSecretOf', "fingerprint === '' && !hasSecretOf")],
    killer: RESTORE,
  },
  {
    id: 'copy-runs-beside-its-original',
    clause: 'OP-09',
    edits: [copies('if (restore === undefined) return;', "if (restore?.backup !== '') return;")],
    killer: RESTORE,
  },
  {
    id: 'doctor-token-for-ever',
    clause: 'OP-08',
    edits: [doctorCall('Number(untilMs) < nowMs ||', '')],
    killer: reaching('OP-08 only a secret holder can ask what arrived'),
  },
  {
    id: 'believed-address-is-not-found',
    clause: 'OP-08',
    edits: [publicAddress('if (address === CLAIMED_ADDRESS)', "if (address === '')")],
    killer: reaching('OP-08 the doctor counts proxies and finds gateways that trust callers'),
  },
];

import { healthSchema } from '@purser/contract/operator-health.ts';
import { ledgerCheckSchema } from '@purser/contract/operator.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import type { Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';
import type { Health } from '#operator/health/health.ts';

/** The route by which operators see how the service runs. */
export function addHealthRoutes(plane: Plane, { readHealth }: OperatorPlane): void {
  plane.get('/operator/health', { schema: { response: { 200: healthSchema } } }, async () =>
    toWire(await readHealth()),
  );
}

/** The route by which operators check the ledger (CP-05, WA-09). */
export function addLedgerCheckRoutes(plane: Plane, { checkLedger }: OperatorPlane): void {
  plane.get('/operator/ledger/check', { schema: { response: { 200: ledgerCheckSchema } } }, async () => {
    const { wallets, entries, differences, found } = await checkLedger();
    return {
      ok: found === 0n,
      wallets: Number(wallets),
      entries: Number(entries),
      // Text: a broken figure may be larger than a JSON number holds exactly.
      differences: differences.map((difference) => ({
        rule: difference.rule,
        walletId: String(difference.walletId),
        expected: String(difference.expected),
        found: String(difference.found),
      })),
    };
  });
}

function toWire({ leases, lanes, queues, statsAtMs, database, disk, settings, checks, doctor, ...rest }: Health) {
  return {
    ...rest,
    leases: leases.map(({ instanceId, startedAtMs, seconds }) => ({
      instanceId,
      startedAt: isoOf(startedAtMs),
      seconds,
    })),
    lanes: [...lanes],
    queues: queues.map((queue) => ({ ...queue, oldestSeconds: queue.oldestSeconds ?? null })),
    statsAt: statsAtMs === undefined ? null : isoOf(statsAtMs),
    database: {
      version: database.version,
      schema: database.schema_version,
      sizeBytes: Number(database.size_bytes),
      connectionsMax: database.connections_max,
      connections: [...database.connections],
      settings: [...database.settings],
    },
    disk: disk ?? null,
    doctor: { at: isoOf(doctor.atMs), findings: [...doctor.findings] },
    settings: settings.map(({ name, isSet }) => ({ name, set: isSet })),
    checks: checks.map(({ begunAtMs, endedAtMs, differences, ...check }) => ({
      ...check,
      begunAt: isoOf(begunAtMs),
      endedAt: isoOf(endedAtMs),
      differences: String(differences),
    })),
  };
}

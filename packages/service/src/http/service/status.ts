import { statusSchema } from '@purser/contract/status.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { type Clock, isoOf } from '#kernel/time/clock.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { ServiceStatus } from '#status/status.ts';

interface StatusRoutes {
  /** Reads the status of the service. It is undefined if the operator shows no status. */
  readonly readStatus: (() => Promise<ServiceStatus>) | undefined;
  readonly clock: Clock;
}

/** Adds `GET /status.json`, which says for programs what the page at `/status` says. Anybody may ask. */
export function addStatusRoutes(plane: Plane, { readStatus, clock }: StatusRoutes): void {
  plane.get(
    '/status.json',
    { config: { isPublic: true }, schema: { response: { 200: statusSchema } } },
    async (_request, reply) => {
      const read = granted(
        readStatus ?? refuse('NOT_FOUND', 'The operator of this service has turned the status page off.'),
      );
      return reply.header('cache-control', 'no-store').send(toWire(await read(), clock.nowMs()));
    },
  );
}

function toWire({ state, models, incidents, isStale, build }: ServiceStatus, nowMs: number) {
  return {
    state,
    at: isoOf(nowMs),
    models: models.map(({ id, aliases, state: ofModel, sinceMs }) => ({
      model: id,
      aliases: [...aliases],
      state: ofModel,
      since: momentOf(sinceMs),
    })),
    incidents: incidents.map(({ about, model, state: was, beganAtMs, endedAtMs }) => ({
      about,
      model: model ?? null,
      state: was,
      beganAt: isoOf(beganAtMs),
      endedAt: momentOf(endedAtMs),
    })),
    isStale,
    build: build ?? null,
  };
}

function momentOf(epochMs: number | undefined): string | null {
  return epochMs === undefined ? null : isoOf(epochMs);
}

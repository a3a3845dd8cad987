import type { Plane } from '#http/planes/planes.ts';

/** Counts requests that are being answered and work that continues after an answer. A graceful shutdown waits for both. */
export interface InFlight {
  readonly count: () => number;
  /** Counts the work until it settles, successful or not. Returns the same promise. */
  readonly follow: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Counts until the returned function is called. Call it exactly once. */
  readonly begin: () => () => void;
}

export function createInFlight(): InFlight {
  let count = 0;
  const end = (): void => void (count -= 1);
  const begin = (): (() => void) => {
    count += 1;
    return end;
  };
  return {
    begin,
    count: () => count,
    follow: (work) => {
      begin();
      work.then(end, end);
      return work;
    },
  };
}

/** Counts the handlers of all routes added after this. A handler continues after its caller has left, so it counts alone. */
export function followHandlers(plane: Plane, inFlight: InFlight): void {
  plane.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function follow(request, reply) {
      const work: unknown = handler.call(this, request, reply);
      return work instanceof Promise ? inFlight.follow(work) : work;
    };
  });
}

import type { Plane } from '#http/planes.ts';

/** Requests that are being answered and work that goes on behind an answer: what a stop waits for. */
export interface UnderWay {
  readonly count: () => number;
  /** Counts until the work has ended, however it ends. Gives the work back. */
  readonly follow: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Counts until what this gives is called, once. */
  readonly begin: () => () => void;
}

export function createUnderWay(): UnderWay {
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

/** Follows what the routes do that are added after this: a caller who leaves does not end it. */
export function followHandlers(plane: Plane, underWay: UnderWay): void {
  plane.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function follow(request, reply) {
      const work: unknown = handler.call(this, request, reply);
      return work instanceof Promise ? underWay.follow(work) : work;
    };
  });
}

import { UpstreamError } from '#providers/port/provider.ts';

/** The time that a call has. */
export interface Timer {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  /** Rejects when the time runs out or the call is given up: credentials may take long to come. */
  readonly within: <Value>(value: Value | Promise<Value>) => Promise<Value>;
  /** The time ran out. */
  readonly isOver: () => boolean;
  readonly stop: () => void;
}

export function createTimer(timeoutMs: number): Timer {
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort();
  }, timeoutMs);
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    within: (value) => {
      const ended = Promise.withResolvers<never>();
      const end = (): void => ended.reject(new Error('The call ended.'));
      if (controller.signal.aborted) end();
      else controller.signal.addEventListener('abort', end, { once: true });
      return Promise.race([value, ended.promise]);
    },
    isOver: () => isOver,
    stop: () => clearTimeout(timer),
  };
}

export function tooSlow(): UpstreamError {
  return new UpstreamError('timeout', 'The provider did not respond in time.');
}

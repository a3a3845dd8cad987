import type { Provider } from '#providers/port/provider.ts';

/** A provider whose code is loaded with its first call: a vendor's library takes 5 to 17 MB of a process. */
export function lazyProvider(load: () => Promise<Provider>): Provider {
  let loading: Promise<Provider> | undefined;
  // A failed load is not kept: the next call tries again.
  const loaded = (): Promise<Provider> => {
    loading ??= load().catch((fault: unknown) => {
      loading = undefined;
      throw fault;
    });
    return loading;
  };
  return {
    complete: async (call) => (await loaded()).complete(call),
    stream: async (call, signal) => (await loaded()).stream(call, signal),
    countPrompt: async (call) => (await loaded()).countPrompt?.(call),
  };
}

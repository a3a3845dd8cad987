/**
 * One run of each name at a time. What is asked while one is under way shares the next one, so that each run begins after it was asked for,
 * and many who ask at once cost little more than one.
 */
export function createRounds<Item, Result>(
  run: (name: string, items: readonly [Item, ...Item[]]) => Promise<Result>,
): (name: string, item: Item) => Promise<Result> {
  const next = new Map<string, { readonly items: [Item, ...Item[]]; readonly result: Promise<Result> }>();
  const last = new Map<string, Promise<unknown>>();
  return (name, item) => {
    const waiting = next.get(name);
    if (waiting !== undefined) {
      waiting.items.push(item);
      return waiting.result;
    }
    const items: [Item, ...Item[]] = [item];
    const result = (last.get(name) ?? Promise.resolve()).then(() => {
      next.delete(name);
      return run(name, items);
    });
    next.set(name, { items, result });
    const ended: Promise<unknown> = result.then(end, end);
    last.set(name, ended);
    function end(): void {
      if (last.get(name) === ended) last.delete(name);
    }
    return result;
  };
}

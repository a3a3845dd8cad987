/** Returns a fetch that gives its first request up, as a client does at its own timeout, once this has happened. */
export function givingUp(happened: () => Promise<unknown>, own: typeof fetch = fetch): typeof fetch {
  let isFirst = true;
  return (input, init) => {
    if (!isFirst) return own(input, init);
    isFirst = false;
    const leaving = new AbortController();
    void happened().then(() => leaving.abort());
    return own(input, { ...init, signal: leaving.signal });
  };
}

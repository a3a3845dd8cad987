// Loaded before the program. Linux does not end the first process of a container by a signal that it does not handle, so a start
// or a migration there could only be killed. `purser serve` and `purser work` put their own handlers in place once they run.
'use strict';

if (process.pid === 1) {
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    process.on(signal, () => process.exit(status));
  }
}

// Preloaded in test processes. Node's test runner tracks every promise, to tell which test an uncaught
// error came from. This takes up to a quarter of the CPU time. Without it, such an error still
// fails the file, but without the test's name.
import hooks from 'node:async_hooks';

const { createHook } = hooks;
// Only the runner makes hooks; the product uses `AsyncLocalStorage`, which needs none.
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });

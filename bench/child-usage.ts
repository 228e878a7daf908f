// Loaded into each measured process before its own code. Reports the process's CPU time and memory
// when the bench asks, and exits when the bench is gone.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() });
});
process.on('disconnect', () => process.exit(1));
// The channel must not keep a process alive that wants to exit.
process.channel?.unref();

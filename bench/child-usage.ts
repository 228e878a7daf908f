// Loaded into each measured process before its own code: answers the bench's question what the process has used so far, and ends it when
// the bench has gone.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() });
});
process.on('disconnect', () => process.exit(1));
// Asking must not keep a process alive that wants to end.
process.channel?.unref();

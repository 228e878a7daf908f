// A stream in translation: an upstream format's reader in front of a client format's writer. Neither knows the other.
import { keepCallsConsistent } from '../canonical/consistent-calls.ts';
import { raiseCustomCalls } from '../canonical/custom-tools.ts';
import type { StreamEvent } from '../canonical/event.ts';
import { mergeUsage } from '../canonical/usage.ts';
import type { SseEvent } from '../lib/sse.ts';
import type { StreamPipe, StreamReader } from './format.ts';

/** `loweredTools`: the custom tools that the upstream was given as functions. */
export function translateStream(
  reader: StreamReader,
  writer: StreamPipe<StreamEvent>,
  loweredTools: ReadonlySet<string> = new Set(),
): StreamPipe<SseEvent> {
  const raise = loweredTools.size === 0 ? null : raiseCustomCalls(loweredTools);
  const keepConsistent = keepCallsConsistent();
  const write = (event: StreamEvent) => writer.push(keepConsistent(event));
  const writeAll = (events: readonly StreamEvent[]) => {
    const { progress } = writer;
    progress.usage = mergeUsage(progress.usage, reader.usageSoFar());
    return (raise ? events.flatMap(raise) : events).map(write).join('');
  };
  return {
    push: (event) => writeAll(reader.push(event)),
    end: () => writeAll(reader.end()) + writer.end(),
    limit: writer.limit,
    close: writer.close,
    fail: writer.fail,
    progress: writer.progress,
  };
}

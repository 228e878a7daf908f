// A stream in translation: an upstream format's reader in front of a client format's writer. Neither knows the other.
import type { StreamEvent } from '../canonical/event.ts';
import type { SseEvent } from '../lib/sse.ts';
import type { StreamPipe, StreamReader } from './format.ts';

export function translateStream(reader: StreamReader, writer: StreamPipe<StreamEvent>): StreamPipe<SseEvent> {
  const writeAll = (events: readonly StreamEvent[]) => events.map(writer.push).join('');
  return {
    push: (event) => writeAll(reader.push(event)),
    end: () => writeAll(reader.end()) + writer.end(),
    close: writer.close,
    fail: writer.fail,
    progress: writer.progress,
  };
}

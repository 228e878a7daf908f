// Reads server-sent events from the response to a POST. The browser's EventSource only sends GET.
import { EventSourceParserStream, type EventSourceMessage } from 'eventsource-parser/stream';

/** Ends with the stream. Throws when the connection breaks or the caller aborts it. */
export async function* readEventStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<EventSourceMessage, void> {
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  // A reader instead of `for await`: Safari cannot iterate over a stream.
  const reader = events.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Also cancels the request when the caller stops reading early.
    void reader.cancel().catch(() => {});
  }
}

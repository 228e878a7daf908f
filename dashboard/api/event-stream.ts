// Server-sent events as the gateway writes them, with the comments that browsers' own readers drop: one of them tells the cost.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream

export type StreamPart =
  | { readonly kind: 'event'; readonly event: string; readonly data: string }
  | { readonly kind: 'comment'; readonly text: string };

/** Ends with the stream. Throws when the connection breaks, and the signal's reason when it was stopped. */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamPart, void> {
  const decoder = new TextDecoder();
  const parser = new EventParser();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Whoever stops reading wants no more of it.
    void reader.cancel().catch(() => {});
  }
}

/** Gives the same parts however the text is split. */
export class EventParser {
  /** After the last line end. */
  #rest = '';
  #event = '';
  #data: string[] = [];

  push(text: string): StreamPart[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    return lines.flatMap((line) => this.#readLine(line.replace(/\r$/, '')));
  }

  #readLine(line: string): StreamPart[] {
    if (line === '') return this.#endEvent();
    if (line.startsWith(':')) return [{ kind: 'comment', text: line.slice(1).trim() }];
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === 'event') this.#event = value!;
    if (name === 'data') this.#data.push(value!);
    return [];
  }

  #endEvent(): StreamPart[] {
    const [event, data] = [this.#event, this.#data];
    this.#event = '';
    this.#data = [];
    return data.length === 0 ? [] : [{ kind: 'event', event, data: data.join('\n') }];
  }
}

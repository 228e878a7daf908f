// The client of a charged request, without the HTTP library.

export type Headers = Readonly<Record<string, string>>;

export type Client = {
  /** True when the connection was lost before the answer was complete. */
  readonly isGone: () => boolean;
  /**
   * Calls back once when the connection is lost before the answer is complete; at once when it is
   * already lost.
   */
  readonly onGone: (callback: () => void) => void;
  /** JSON, unless the headers name another `content-type`. */
  readonly sendAnswer: (body: string | Buffer, headers: Headers) => void;
  /**
   * True when the head of its stream was sent while it waited for another request; left out: it
   * never waits.
   */
  readonly hasHead?: () => boolean;
  /** Sends the head of an event stream, unless the headers name another `content-type`. */
  readonly startStream: (headers: Headers, trailerNames: readonly string[]) => ClientStream;
};

export type ClientStream = {
  /**
   * Resolves when the client has room for more. A client that reads nothing for a minute is
   * disconnected and counts as gone.
   */
  readonly write: (frames: string | Buffer) => Promise<void> | void;
  /** Sends it unless earlier data still waits to be read. */
  readonly keepAlive: (frame: string) => void;
  readonly end: (frames: string, trailers: Headers) => void;
  /** Cuts the connection, which tells the client that the answer is not complete. */
  readonly cut: () => void;
};

/** Hears what the client is answered, before it is sent. */
type AnswerObserver = {
  readonly onAnswer: (body: string | Buffer, headers: Headers) => void;
  /** Called when a stream starts. The returned function is called with its frames. */
  readonly onStream: (headers: Headers) => (frames: string | Buffer) => void;
};

/** Returns the client to answer. */
export function observeAnswer(client: Client, { onAnswer, onStream }: AnswerObserver): Client {
  return {
    isGone: () => client.isGone(),
    onGone: (callback) => client.onGone(callback),
    sendAnswer(body, headers) {
      onAnswer(body, headers);
      client.sendAnswer(body, headers);
    },
    startStream(headers, trailerNames) {
      const stream = client.startStream(headers, trailerNames);
      const onFrames = onStream(headers);
      return {
        write(frames) {
          onFrames(frames);
          return stream.write(frames);
        },
        keepAlive: (frame) => stream.keepAlive(frame),
        end(frames, trailers) {
          onFrames(frames);
          stream.end(frames, trailers);
        },
        cut: () => stream.cut(),
      };
    },
  };
}

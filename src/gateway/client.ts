// The client's side of a charged request, without the HTTP library: what run.ts answers to.

export type Headers = Readonly<Record<string, string>>;

export type Client = {
  /** Whether the connection is gone before the answer was complete. */
  readonly isGone: () => boolean;
  /** Calls back once when the connection goes before the answer was complete; at once when it has gone already. */
  readonly onGone: (callback: () => void) => void;
  readonly sendAnswer: (body: string, headers: Headers) => void;
  /** Whether the head of its stream went out while it waited for another request; left out: it never waits. */
  readonly hasHead?: () => boolean;
  /** Sends the head of an event stream. */
  readonly startStream: (headers: Headers, trailerNames: readonly string[]) => ClientStream;
};

export type ClientStream = {
  /** Resolves when the client has room for more; a client that takes nothing for a minute is cut off and counts as gone. */
  readonly write: (frames: string) => Promise<void> | void;
  /** Sends it unless the client has yet to take what was written before. */
  readonly keepAlive: (frame: string) => void;
  readonly end: (frames: string, trailers: Headers) => void;
};

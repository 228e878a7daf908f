// Requests that start while the app's code still loads (`app/start.ts`). The first call of the same
// address takes the answer.

const keptMs = 15_000;
const started = new Map<string, Promise<Response>>();

/** Starts a GET of the dashboard's API. */
export function startEarly(url: string): Promise<Response> {
  const init = { headers: { accept: 'application/json' }, priority: 'high' } as const;
  const answer = fetch(url, init);
  started.set(url, answer);
  // An answer that nobody took would be out of date later. Its failure shows in the later call.
  setTimeout(() => started.delete(url), keptMs);
  // Read at once: an answer that nobody takes would keep its connection.
  answer.then((response) => response.clone().arrayBuffer()).catch(() => {});
  return answer;
}

export function takeEarly(url: string): Promise<Response> | undefined {
  const answer = started.get(url);
  started.delete(url);
  return answer;
}

// Knows whether the gateway answers. After a failed call it asks for the page until it comes, which
// also shows whether the gateway has a newer version of the app.
import { useSyncExternalStore } from 'react';

/** `updated`: the gateway answers, with a newer version of the app. */
type Connection = 'open' | 'lost' | 'updated';

const firstWaitMs = 500;
const longestWaitMs = 5_000;

const listeners = new Set<() => void>();
let connection: Connection = 'open';
let asking: Promise<void> | null = null;

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection);
}

/** Call it when a request got no answer from the gateway. */
export function noteLost(): void {
  if (connection !== 'lost') change('lost');
  asking ??= askUntilAnswered().finally(() => {
    asking = null;
  });
}

/** Resolves when the gateway answers; at once when it was not lost. */
export async function untilAnswered(): Promise<void> {
  await asking;
}

/** Calls the listener each time the gateway answers again. */
export function onAnswered(listener: () => void): void {
  subscribe(() => {
    if (connection !== 'lost') listener();
  });
}

async function askUntilAnswered(): Promise<void> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const page = await readPage();
    if (page !== null) return change(isOfThisVersion(page) ? 'open' : 'updated');
  }
}

/** Returns null when there is no answer, or one of a proxy. */
async function readPage(): Promise<string | null> {
  try {
    const response = await fetch('/sign-in', { headers: { accept: 'text/html' } });
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}

/** The name of this file changes with every version. A development server has no versions. */
function isOfThisVersion(page: string): boolean {
  const { pathname } = new URL(import.meta.url);
  return !pathname.startsWith('/assets/') || page.includes(pathname);
}

function change(next: Connection): void {
  connection = next;
  listeners.forEach((each) => each());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

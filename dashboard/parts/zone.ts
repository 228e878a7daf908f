// The time zone of the page: the reader's own, or UTC. The browser keeps the choice.
import { useSyncExternalStore } from 'react';

export type Zone = 'local' | 'UTC';

const storedName = 'tollgate.zone';
const listeners = new Set<() => void>();
let zone: Zone = readStored();

export function useZone(): Zone {
  return useSyncExternalStore(subscribe, () => zone);
}

export function setZone(chosen: Zone): void {
  try {
    localStorage.setItem(storedName, chosen);
  } catch {
    // The browser forbids storage, so the choice lasts as long as the page.
  }
  change(chosen);
}

/** `UTC`, or the short name of the reader's zone: `CET`, `GMT-3`. */
export function zoneName(of: Zone, at = new Date()): string {
  if (of === 'UTC') return 'UTC';
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'local';
}

function change(chosen: Zone): void {
  zone = chosen;
  listeners.forEach((each) => each());
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener('storage', followOtherTabs);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener('storage', followOtherTabs);
  };
}

function followOtherTabs({ key }: StorageEvent): void {
  if (key === storedName) change(readStored());
}

function readStored(): Zone {
  try {
    return localStorage.getItem(storedName) === 'UTC' ? 'UTC' : 'local';
  } catch {
    return 'local';
  }
}

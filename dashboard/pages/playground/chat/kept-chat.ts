// The conversation and its settings, which survive a reload: kept in this browser for a user, an
// account and a mode, until the user signs out.
import { useEffect, useRef, useState } from 'react';
import { keep, readKept } from '../../../api/browser-store.ts';
import type { FormatName } from '../../../api/chat-formats/types.ts';
import { fromKept, toKept, type Turn } from './conversation.ts';
import type { Draft } from './draft.ts';

export type KeptChat = {
  readonly models: readonly string[];
  readonly format: FormatName;
  readonly draft: Draft;
  readonly turns: readonly Turn[];
};

/** Another version of the program may have kept other fields. */
const version = 1;

/** Returns undefined while it is read, and null when nothing is kept. */
export function useKeptChat(scope: string): KeptChat | null | undefined {
  const [kept, setKept] = useState<{ readonly scope: string; readonly chat: KeptChat | null }>();
  useEffect(() => {
    let isCurrent = true;
    const read = async () => {
      const value = (await readKept(nameOf(scope))) as KeptChat | null;
      if (isCurrent) setKept({ scope, chat: value && { ...value, turns: fromKept(value.turns) } });
    };
    void read();
    return () => {
      isCurrent = false;
    };
  }, [scope]);
  return kept?.scope === scope ? kept.chat : undefined;
}

/** While answers arrive, they are kept once in this time. */
const keepEveryMs = 500;

/** A null `scope` keeps nothing. */
export function useKeepChat(scope: string | null, chat: KeptChat, isRunning: boolean): void {
  const latest = useRef(chat);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    if (scope === null) return;
    latest.current = chat;
    const write = () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
      void keep(nameOf(scope), { ...latest.current, turns: toKept(latest.current.turns) });
    };
    if (!isRunning) write();
    else timer.current ??= setTimeout(write, keepEveryMs);
  });
}

function nameOf(scope: string): string {
  return `playground.${version}.${scope}`;
}

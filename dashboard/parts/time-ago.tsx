// Times that a reader sees. The exact one is always in the tooltip.
import { Text, Tooltip, type TextProps } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { dateTimeText, dayText, relativeText } from './time-text.ts';

type Props = Omit<TextProps, 'children'> & {
  /** ISO text; null: never. */
  readonly at: string | null | undefined;
  /** Instead of a dash when there is none. */
  readonly never?: string;
};

/** `<TimeAgo at={key.last_used_at} never="Never" />`: 5 minutes ago */
export function TimeAgo({ at, never = '–', ...text }: Props) {
  const nowMs = useMinute();
  if (!at) return <Never text={never} {...text} />;
  return <TimeText at={at} text={relativeText(Date.parse(at), nowMs)} {...text} />;
}

/** `<DateTime at={charge.created_at} />`: 22 Nov 2026, 14:05:09 */
export function DateTime({ at, never = '–', ...text }: Props) {
  if (!at) return <Never text={never} {...text} />;
  return <TimeText at={at} text={dateTimeText(new Date(at))} {...text} />;
}

/** A day of the ledger, which begins at midnight UTC: `2026-11-22` or a time in it. */
export function Day({ at, ...text }: Props & { readonly at: string }) {
  return (
    <Text span inherit {...text}>
      {dayText(at)}
    </Text>
  );
}

function Never({ text, ...props }: Omit<TextProps, 'children'> & { readonly text: string }) {
  return (
    <Text span inherit c="dimmed" {...props}>
      {text}
    </Text>
  );
}

function TimeText({ at, text, ...props }: Omit<Props, 'at' | 'never'> & { readonly at: string; readonly text: string }) {
  const date = new Date(at);
  return (
    <Tooltip label={`${dateTimeText(date)} (${dateTimeText(date, { utc: true })})`}>
      <Text span inherit style={{ whiteSpace: 'nowrap' }} {...props}>
        <time dateTime={at}>{text}</time>
      </Text>
    </Tooltip>
  );
}

const listeners = new Set<() => void>();
let minute = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all times on the page. */
function useMinute(): number {
  return useSyncExternalStore(subscribe, () => minute);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    minute = Date.now();
    listeners.forEach((each) => each());
  }, 60_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

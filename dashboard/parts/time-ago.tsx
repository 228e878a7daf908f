// Times on a page, with the exact time in a tooltip.
import { Text, Tooltip, type TextProps } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { dateTimeText, dayText, relativeText } from './time-text.ts';
import { useZone, zoneName } from './zone.ts';

type Props = Omit<TextProps, 'children'> & {
  /** ISO time. Null or undefined shows `never`. */
  readonly at: string | null | undefined;
  /** Text for a missing time; defaults to a dash. */
  readonly never?: string;
};

/** `<TimeAgo at={key.last_used_at} never="Never" />`: 5 minutes ago */
export function TimeAgo({ at, never = '–', ...text }: Props) {
  const nowMs = useCurrentMinute();
  if (!at) return <NoTime text={never} {...text} />;
  return <TimeText at={at} text={relativeText(Date.parse(at), nowMs)} {...text} />;
}

/** A page that is open at New Year shows the year from then on. */
const thisYear = new Date().getFullYear();

/**
 * `<DateTime at={charge.created_at} />`: 22 Nov 2026, 14:05:09, in the page's zone. `short` leaves
 * out the current year. `zoned` adds the zone, for a time outside a table.
 */
export function DateTime({
  at,
  never = '–',
  short = false,
  zoned = false,
  ...text
}: Props & { readonly short?: boolean; readonly zoned?: boolean }) {
  const zone = useZone();
  if (!at) return <NoTime text={never} {...text} />;
  const date = new Date(at);
  const isThisYear = date.getFullYear() === thisYear;
  const shown = dateTimeText(date, { utc: zone === 'UTC', withYear: !(short && isThisYear) });
  return <TimeText at={at} text={zoned ? `${shown} ${zoneName(zone, date)}` : shown} {...text} />;
}

/** A UTC day: `2026-11-22`, or any time in it. */
export function Day({ at, ...text }: Props & { readonly at: string }) {
  return (
    <Text span inherit {...text}>
      {dayText(at)}
    </Text>
  );
}

function NoTime({ text, ...props }: Omit<TextProps, 'children'> & { readonly text: string }) {
  return (
    <Text span inherit c="dimmed" {...props}>
      {text}
    </Text>
  );
}

function TimeText({
  at,
  text,
  ...props
}: Omit<Props, 'at' | 'never'> & { readonly at: string; readonly text: string }) {
  const date = new Date(at);
  const own = `${dateTimeText(date)} ${zoneName('local', date)}`;
  const utc = `${dateTimeText(date, { utc: true })} UTC`;
  return (
    <Tooltip label={own === utc ? utc : `${own} (${utc})`}>
      <Text span inherit style={{ whiteSpace: 'nowrap' }} {...props}>
        <time dateTime={at}>{text}</time>
      </Text>
    </Tooltip>
  );
}

const listeners = new Set<() => void>();
let minute = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** All times on the page share one timer. */
function useCurrentMinute(): number {
  return useSyncExternalStore(subscribe, () => minute);
}

/** Returns when the UTC day began. A page that stays open follows the days. */
export function useToday(): number {
  return useSyncExternalStore(subscribe, () => minute - (minute % 86_400_000));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    minute = Date.now();
    timer = setInterval(() => {
      minute = Date.now();
      listeners.forEach((each) => each());
    }, 60_000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

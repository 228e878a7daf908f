// The program's log: lines of JSON as pino writes them. Those without an error in them are made here, since V8's own JSON takes a quarter of
// the time, and each request has one.
import { pino } from 'pino';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/clock.ts';
import { jsonMembers, type Logger } from '../lib/log.ts';

type Level = Config['log']['level'];
type Lines = {
  readonly write: (line: string) => void;
  /** Lets nothing wait any longer. */
  readonly hand: () => void;
};

/** In characters. */
const batchLength = 64 * 1_024;

/**
 * `flush`: writes what waits, at once. Lines are written in batches, off the requests' way: warnings and errors with what came before them
 * at once, the others at the latest a second later.
 */
export function openLog(level: Level): { readonly log: Logger; readonly flush: () => void } {
  const destination = pino.destination({ dest: 1, sync: false });
  // Gathered here: the destination would measure all that waits anew with each line.
  let batch = '';
  const hand = () => {
    if (batch !== '') destination.write(batch);
    batch = '';
  };
  const write = (line: string) => {
    batch += line;
    if (batch.length >= batchLength) hand();
  };
  systemClock.every(1_000, hand);
  const flush = () => {
    hand();
    destination.flushSync();
  };
  return { log: createLog(level, { write, hand }), flush };
}

export function createLog(level: Level, lines: Lines, nowMs = systemClock.nowMs): Logger {
  const isoTime = isoTimes();
  const log = pino({ level, base: null, timestamp: () => `,"time":"${isoTime(nowMs())}"` }, lines);
  const writerOf = (name: 'debug' | 'info' | 'warn' | 'error') => {
    const number = log.levels.values[name]!;
    return (fields: object | string, message: string) => {
      if (number < log.levelVal) return;
      if (typeof fields === 'object' && 'err' in fields) log[name](fields, message);
      else {
        const members = typeof fields === 'string' ? fields : jsonMembers(fields);
        lines.write(`{"level":${number},"time":"${isoTime(nowMs())}"${members},"msg":${JSON.stringify(message)}}\n`);
      }
      if (number >= log.levels.values['warn']!) lines.hand();
    };
  };
  return { debug: writerOf('debug'), info: writerOf('info'), warn: writerOf('warn'), error: writerOf('error') };
}

/** A time is written once for all lines of its millisecond. */
function isoTimes(): (nowMs: number) => string {
  let lastMs = -1;
  let text = '';
  return (nowMs) => {
    if (nowMs !== lastMs) text = new Date(nowMs).toISOString();
    lastMs = nowMs;
    return text;
  };
}

// The program's log: JSON lines in pino's format. Lines without an error are formatted here,
// because V8's own JSON takes a quarter of pino's time and every request logs one.
import { type LevelWithSilent, pino } from 'pino';
import { systemClock } from './clock.ts';
import type { Logger } from './log.ts';
import { openLogOutput, type LogOutput } from './log-output.ts';

type Lines = {
  readonly write: (line: string) => void;
  /** Passes the batch to the output at once. */
  readonly writeBatch: () => void;
};

export type Log = {
  readonly log: Logger;
  /** Writes everything that was logged. Synchronous, if the output is. */
  readonly flush: () => void;
};

const batchCharacters = 64 * 1_024;

/** Opens the log on standard output. `output` also takes the lines of other threads. */
export function openLog(level: LevelWithSilent): Log & { readonly output: LogOutput } {
  const output = openLogOutput(1, () =>
    opened.log.warn({}, 'earlier log lines are missing because they could not be written'),
  );
  const opened = openLogOn(level, output);
  return { ...opened, output };
}

/**
 * Opens the log on an output. Lines are written in batches, outside the requests' path. A warning
 * or an error writes its batch at once; other lines wait a second at most.
 */
export function openLogOn(level: LevelWithSilent, output: LogOutput): Log {
  let batch = '';
  const writeBatch = () => {
    if (batch !== '') output.write(batch);
    batch = '';
  };
  const write = (line: string) => {
    batch += line;
    if (batch.length >= batchCharacters) writeBatch();
  };
  systemClock.every(1_000, writeBatch);
  const flush = () => {
    writeBatch();
    output.flush();
  };
  return { log: createLog(level, { write, writeBatch }), flush };
}

export function createLog(level: LevelWithSilent, lines: Lines, nowMs = systemClock.nowMs): Logger {
  const isoTime = isoTimes();
  const log = pino({ level, base: null, timestamp: () => `,"time":"${isoTime(nowMs())}"` }, lines);
  const writerOf = (name: 'debug' | 'info' | 'warn' | 'error') => {
    const number = log.levels.values[name]!;
    return (fields: object, message: string) => {
      if (number < log.levelVal) return;
      if ('err' in fields) log[name](fields, message);
      else {
        const members = jsonMembers(fields);
        lines.write(
          `{"level":${number},"time":"${isoTime(nowMs())}"${members},"msg":${JSON.stringify(message)}}\n`,
        );
      }
      if (number >= log.levels.values['warn']!) lines.writeBatch();
    };
  };
  return {
    debug: writerOf('debug'),
    info: writerOf('info'),
    warn: writerOf('warn'),
    error: writerOf('error'),
  };
}

/** Formats a time once for all lines of the same millisecond. */
function isoTimes(): (nowMs: number) => string {
  let lastMs = -1;
  let text = '';
  return (nowMs) => {
    if (nowMs !== lastMs) text = new Date(nowMs).toISOString();
    lastMs = nowMs;
    return text;
  };
}

/** Returns the members of a JSON object, with a comma ahead. */
function jsonMembers(fields: object): string {
  const members = JSON.stringify(fields).slice(1, -1);
  return members === '' ? '' : `,${members}`;
}

// Writes the log, one asynchronous write at a time. Text that cannot be written is dropped, because
// logging must never stall or end the gateway. pino's own destination throws at the first failed
// write, then retries the last one for ever.
import { write, writeSync } from 'node:fs';
import { systemClock } from './clock.ts';

export type LogOutput = {
  readonly write: (text: string) => void;
  /** Writes all buffered text synchronously. */
  readonly flush: () => void;
};

/** The most characters buffered for a slow reader. */
const bufferedMax = 16 * 1_048_576;
const retryMs = 100;
/** How often `flush` tries while a pipe's reader takes nothing. */
const flushTriesMax = 10;

/** `onRestored`: called after the first write that succeeds after text was dropped. */
export function openLogOutput(fd: number, onRestored: () => void): LogOutput {
  let waiting = '';
  let rest: Buffer = Buffer.alloc(0);
  let isWriting = false;
  let hasDropped = false;

  return {
    write: (text) => {
      if (waiting.length + text.length <= bufferedMax) waiting += text;
      else hasDropped = true;
      writeNext();
    },
    flush: () => {
      // The bytes of a write in progress are already with the system.
      const text = isWriting ? Buffer.from(waiting) : Buffer.concat([rest, Buffer.from(waiting)]);
      waiting = '';
      if (!isWriting) rest = Buffer.alloc(0);
      writeNow(fd, text);
    },
  };

  function writeNext(): void {
    if (isWriting) return;
    if (rest.length === 0) {
      // The last line written may be cut off, so start a new one.
      rest = Buffer.from(hasDropped && waiting !== '' ? `\n${waiting}` : waiting);
      waiting = '';
    }
    if (rest.length === 0) return;
    isWriting = true;
    write(fd, rest, (error, bytes) => {
      isWriting = false;
      if (error && isFull(error)) return void systemClock.after(retryMs, writeNext);
      if (error) {
        rest = Buffer.alloc(0);
        hasDropped = true;
      } else {
        rest = rest.subarray(bytes);
        if (hasDropped) {
          hasDropped = false;
          onRestored();
        }
      }
      writeNext();
    });
  }
}

function writeNow(fd: number, text: Buffer): void {
  for (let tries = 0; text.length > 0 && tries < flushTriesMax;) {
    try {
      text = text.subarray(writeSync(fd, text));
    } catch (error) {
      if (!isFull(error)) return;
      tries++;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
    }
  }
}

/** True when a pipe is full because its reader is slow. */
function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN';
}

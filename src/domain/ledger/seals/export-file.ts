// The file of a sealed day: gzip, a line of JSON each. The first line names the format, the day, the
// columns and the digests; then an entry, a charge or the tags of a charge in each line, as they are
// digested.
import { createReadStream, createWriteStream, existsSync, linkSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pipeline as pipe, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import {
  chargeColumns,
  chargeLine,
  DayDigests,
  entryColumns,
  entryLine,
  tagColumns,
  tagsLine,
} from './digests.ts';
import type { JournalRow } from './journal.ts';
import type { SealRow } from './seals.ts';

const format = 'tollgate-sealed-day-2';

export function exportPath(folder: string, day: string): string {
  return join(folder, `tollgate-${day}.jsonl.gz`);
}

/**
 * Writes the file of a day, reads it back and compares it with the seal; then it gets its name. A
 * file that is there already is only compared. Returns true when file and name are on disk, and
 * false when the content, or a file that is there, differs from the seal. Throws when the file cannot
 * be written or read. The folder is never made: it may be a mount that is missing.
 */
export async function exportDay(
  folder: string,
  seal: SealRow,
  rows: () => AsyncIterable<readonly JournalRow[]>,
): Promise<boolean> {
  const path = exportPath(folder, seal.day);
  if (existsSync(path)) return keepsSeal(folder, path, seal);
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.new`;
  try {
    const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline(Readable.from(linesOf(seal, rows())), createGzip(), file);
    if (!(await matchesSeal(draft, seal))) return false;
    // Fails if another gateway was faster, instead of replacing its file.
    linkSync(draft, path);
    await flush(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      return await keepsSeal(folder, path, seal);
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The process that wrote the file may have been killed before the flush. */
async function keepsSeal(folder: string, path: string, seal: SealRow): Promise<boolean> {
  if (!(await matchesSeal(path, seal))) return false;
  await flush(path);
  await flush(folder);
  return true;
}

async function* linesOf(
  seal: SealRow,
  pages: AsyncIterable<readonly JournalRow[]>,
): AsyncGenerator<string> {
  yield `${headOf(seal)}\n`;
  for await (const page of pages)
    yield page
      .map(
        ({ entry, charge, tags }) =>
          `{"entry":${entryLine(entry)}}\n${charge ? `{"charge":${chargeLine(charge)}}\n` : ''}` +
          (tags.length > 0 ? `{"tags":${tagsLine(entry.id, tags)}}\n` : ''),
      )
      .join('');
}

function headOf(seal: SealRow): string {
  const { day, digest, entries, charges } = seal;
  const { entries_digest, charges_digest, tags_digest } = seal;
  const digests = { entries: entries_digest, charges: charges_digest, tags: tags_digest };
  const head = { format, day, digest, entries, charges, digests };
  const columns = { entry_columns: entryColumns, charge_columns: chargeColumns };
  return JSON.stringify({ ...head, ...columns, tag_columns: tagColumns });
}

const entryLead = '{"entry":';
const chargeLead = '{"charge":';
const tagsLead = '{"tags":';

/** Reads a file and returns true if it has exactly the rows of the seal. Throws if it cannot be read. */
async function matchesSeal(path: string, seal: SealRow): Promise<boolean> {
  const { entries, charges, tags } = new DayDigests();
  // `compose` would end the process: for a file that was cut off, and sometimes for a return before
  // the end. Here every error reaches the loop, so the callback has nothing to do.
  const unzipped = pipe(createReadStream(path), createGunzip(), () => {});
  let isHead = true;
  for await (const line of readLines(unzipped)) {
    if (isHead) {
      if (line !== headOf(seal)) return false;
      isHead = false;
    } else if (line.startsWith(entryLead)) entries.add(line.slice(entryLead.length, -1));
    else if (line.startsWith(chargeLead)) charges.add(line.slice(chargeLead.length, -1));
    else if (line.startsWith(tagsLead)) tags.add(line.slice(tagsLead.length, -1));
    else return false;
  }
  return (
    entries.end() === seal.entries_digest &&
    charges.end() === seal.charges_digest &&
    tags.end() === seal.tags_digest
  );
}

/** Lines end at \n only. node:readline also ends them at U+2028 and U+2029, which JSON leaves in texts. */
async function* readLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

/** Without this, a power cut could take the file or its name away. */
async function flush(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// Stores images in a local folder, with a subfolder for each day of expiry. For one gateway, or
// several on a shared file system.
import { createReadStream } from 'node:fs';
import { mkdir, open, opendir, readdir, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { imagePlaces, type ImageStore, type ImageStoreOptions } from './image-store.ts';

type LocalStoreOptions = ImageStoreOptions & {
  /** Created with the first image. */
  readonly folder: string;
};

export function openLocalStore({ folder, ...options }: LocalStoreOptions): ImageStore {
  const places = imagePlaces(options);
  return {
    put: async ({ bytes, mediaType }) => {
      const { image, folder: day } = places.next(mediaType);
      await writeWhole(join(folder, day), image.id, bytes);
      return image;
    },
    find: async (id) => {
      const found = places.locate(id);
      const file = found && (await unlessMissing(stat(join(folder, found.place))));
      return file ? { mediaType: found.mediaType, sizeBytes: file.size } : null;
    },
    read: async (id, range) => {
      const found = places.locate(id);
      if (!found) return null;
      const stream = createReadStream(join(folder, found.place), range ?? {});
      return (await unlessMissing(once(stream, 'open'))) ? stream : null;
    },
    removeExpired: async (signal) => {
      const days = (await unlessMissing(readdir(folder))) ?? [];
      for (const day of days.filter((name) => places.isOver(name)))
        await removeDay(join(folder, day), signal);
    },
    close: async () => {},
  };
}

/** Writes to a temporary name first, so that a power cut leaves the whole image or none. */
async function writeWhole(folder: string, id: string, bytes: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `${id}.part`);
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, join(folder, id));
  } catch (error) {
    await unlessMissing(unlink(draft));
    throw error;
  }
}

/**
 * Deletes file by file, so that a day of a million images never blocks the disk. Another gateway
 * may be deleting the same day.
 */
async function removeDay(folder: string, signal: AbortSignal): Promise<void> {
  const entries = await unlessMissing(opendir(folder));
  if (!entries) return;
  for await (const { name } of entries) {
    if (signal.aborted) return;
    await unlessMissing(unlink(join(folder, name)));
  }
  await unlessMissing(rmdir(folder));
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

// Where generated images are kept until they expire: a folder (local-store.ts) or a bucket (s3-store.ts).
import type { Readable } from 'node:stream';
import type { ImageBytes, ImageMediaType } from '../lib/image.ts';
import type { Clock } from '../lib/clock.ts';

export type StoredImage = { readonly id: string; readonly expiresAtSeconds: number };

type FoundImage = { readonly mediaType: ImageMediaType; readonly sizeBytes: number };

/** Both included, within the image. */
export type ByteRange = { readonly start: number; readonly end: number };

export type ImageStore = {
  /** The image can be read, whole, once this resolves. */
  readonly put: (image: ImageBytes) => Promise<StoredImage>;
  /** null: there is none of this id, or it has expired. */
  readonly find: (id: string) => Promise<FoundImage | null>;
  /** The bytes as they are asked for; null when the image has gone since it was found. The caller destroys what it does not read. */
  readonly read: (id: string, range: ByteRange | null) => Promise<Readable | null>;
  /** What expired on days that are over; one after the other, and no more once `signal` says so. */
  readonly removeExpired: (signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type ImageStoreOptions = {
  /** How long an image is kept. */
  readonly keepSeconds: number;
  readonly clock: Clock;
};

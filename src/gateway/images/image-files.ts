// Images that the gateway reads and stores: inputs from clients, results in the configured store,
// and links to them.
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Config } from '../../config/schema.ts';
import { withReportedFailures } from '../../domain/images/available-store.ts';
import { FetchedBytes } from '../../domain/images/fetched-bytes.ts';
import { createImageLinks } from '../../domain/images/image-links.ts';
import type { ImageStore } from '../../domain/images/image-store.ts';
import { ImageUpkeep } from '../../domain/images/image-upkeep.ts';
import { openLocalStore } from '../../domain/images/local-store.ts';
import { fetchWithOwnLinks } from '../../domain/images/own-links.ts';
import {
  readInputImages,
  readUrls,
  type ReadInputImagesOptions,
} from '../../domain/images/read-input-images.ts';
import { openS3Store } from '../../domain/images/s3-store.ts';
import { createSafeFetch } from '../../domain/images/safe-fetch.ts';
import type { AnswerFiles } from '../../domain/idempotency/answer-files.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Secrets } from '../../lib/secrets.ts';

export type ImageFiles = ReturnType<typeof openImageFiles>;

type ImageFilesOptions = {
  readonly config: Config;
  readonly secrets: Secrets;
  /** The most that fetched images may take together. */
  readonly fetchedBytesMax: number;
  /** True in one thread of the process. */
  readonly removesExpired: boolean;
  /** Called with failures of the store. */
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

export function openImageFiles({
  config,
  secrets,
  fetchedBytesMax,
  removesExpired,
  onError,
  clock,
}: ImageFilesOptions) {
  const store = withReportedFailures(openStore(config, clock), onError);
  const links = createImageLinks(secrets);
  const upkeep = removesExpired ? new ImageUpkeep(store, { onError, clock }) : null;
  const fetcher = createSafeFetch({ allowedHosts: config.images.allowed_hosts, clock });
  const fetched = new FetchedBytes(fetchedBytesMax);
  const fetchOwn = fetchWithOwnLinks({ links, store, fetcher, nowMs: clock.nowMs });
  return {
    store,
    links,
    /**
     * Fetches each URL under the safety rules for untrusted URLs. Rejects when the signal is aborted.
     */
    readUrls: (urls: readonly string[], options: Omit<Parameters<typeof readUrls>[1], 'fetcher'>) =>
      readUrls(urls, { ...options, fetcher: fetchOwn }),
    /** Begins the memory of a request's images, to be left at its end. */
    enter: (accountId: string) => fetched.enter(accountId),
    readInputs: (texts: readonly string[], options: Omit<ReadInputImagesOptions, 'fetcher'>) =>
      readInputImages(texts, { ...options, fetcher: fetchOwn }),
    close: async () => {
      await upkeep?.close();
      await store.close();
    },
  };
}

/** Stores long answers under Idempotency-Keys beside the images. */
export function answerFilesIn(store: ImageStore): AnswerFiles {
  return {
    put: async (bytes) => (await store.put({ bytes, mediaType: 'application/octet-stream' })).id,
    get: async (id) => {
      const stream = await store.read(id, null);
      return stream && buffer(stream);
    },
  };
}

function openStore({ storage, dataDir }: Config, clock: Clock): ImageStore {
  const common = { keepSeconds: storage.keep_days * 86_400, clock };
  if (storage.kind === 'local')
    return openLocalStore({ ...common, folder: join(dataDir, 'images') });
  const { endpoint, region, bucket, prefix } = storage;
  const {
    path_style: pathStyle,
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
  } = storage;
  const sessionToken = storage.session_token ?? undefined;
  return openS3Store({
    ...common,
    prefix,
    bucket: { endpoint, region, bucket, pathStyle, accessKeyId, secretAccessKey, sessionToken },
  });
}

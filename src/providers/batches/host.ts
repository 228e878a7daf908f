// A provider's own batch API. Our id of a batch marks it there: in its metadata, or in each line's
// `custom_id`, which is `<mark>_<line>`.
import type { JsonObject } from '../../lib/json.ts';
import type { SizedBody } from '../../lib/multipart.ts';
import type { UpstreamCall } from '../upstream-call.ts';

/** Calls of the host. They throw UpstreamBroken. An empty answer, or `null`, is an empty object. */
export type HostCalls = {
  readonly call: (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: JsonObject,
  ) => Promise<JsonObject>;
  /** Sends a long body. `method`: default POST. */
  readonly send: (path: string, body: SizedBody, method?: 'POST' | 'PUT') => Promise<JsonObject>;
  /** Opens a file, of any length. */
  readonly read: (path: string) => Promise<AsyncIterable<Uint8Array>>;
  readonly pause: (ms: number) => Promise<void>;
};

/** The lines of a batch as the host wants them. */
type Lines = Omit<SizedBody, 'headers'> & { readonly count: number };

export type ToSend = {
  readonly mark: string;
  /** The path of all lines, below the host's address, and their model. */
  readonly path: string;
  readonly model: string;
  readonly lines: Lines;
};

export type ToFind = {
  readonly mark: string;
  /** The id that `upload` returned; null: the host takes no files. */
  readonly fileId: string | null;
  readonly lines: number;
  /** Sent between these times, by the provider's clock, too. */
  readonly sinceMs: number;
  readonly untilMs: number;
};

/** A batch as the host shows it. */
export type RemoteBatch =
  | { readonly state: 'running' }
  | FailedBatch
  /** `unrun`: what became of lines without a result; null: none should lack it. */
  | {
      readonly state: 'ended';
      readonly unrun: Unrun | null;
      /** Paths of the results, and of what to delete when they were read. */
      readonly results: readonly string[];
      readonly files: readonly string[];
    };

/**
 * `mayPass`: the host had no room for it. `results`: paths of those that it has nevertheless. `files`: paths
 * of what to delete.
 */
export type FailedBatch = {
  readonly state: 'failed';
  readonly message: string;
  readonly mayPass: boolean;
  readonly results: readonly string[];
  readonly files: readonly string[];
};

type Unrun = 'canceled' | 'expired';

/** The result of a line: the endpoint's answer, or why the line did not run. */
export type RemoteLine = {
  readonly customId: string;
  readonly result: { readonly status: number; readonly body: unknown } | Unrun;
};

/**
 * A line of a file of results, and its length; null: it is no object of JSON. `cut`: the beginning of a
 * line that is too long.
 */
export type ReadLine = {
  readonly line: JsonObject | null;
  readonly bytes: number;
  readonly cut?: string;
};

/** The most that one batch may have. `inputs`: texts to embed. */
export type BatchMax = { readonly lines: number; readonly bytes: number; readonly inputs: number };

/** A live call. `headers`: left out for a task. */
type WrittenLine = {
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A path and, where that is not the provider's address, its origin, and who signs for it. */
export type BatchAddress = Pick<UpstreamCall, 'path' | 'origin' | 'service'>;

export type BatchHost = {
  /** Returns where a call goes. Left out: its path is below the provider's address. */
  readonly addressOf?: (path: string) => BatchAddress;
  /** It knows a model by another id, `batch_model` in the route, and runs none that has no such id. */
  readonly hasOwnModels?: true;
  /** The paths of calls that it runs, below the host's address. */
  readonly paths: RegExp;
  /** Returns false for a call that its batches cannot make. Left out: they make each. */
  readonly takes?: (written: WrittenLine) => boolean;
  /** The fewest lines of a batch. Left out: one. */
  readonly linesMin?: number;
  /** Left out: as far as any host goes. */
  readonly max?: Partial<BatchMax>;
  /** The most texts to embed in one line. Left out: any number. */
  readonly lineInputsMax?: number;
  /** Text around and between the lines. */
  readonly frame: (mark: string) => {
    readonly begin: string;
    readonly between: string;
    readonly end: string;
  };
  /** `path`: as in ToSend. */
  readonly writeLine: (customId: string, path: string, body: JsonObject) => JsonObject;
  /**
   * Files are in a bucket of the operator. When it refuses a batch, or fails it as a whole, our own
   * queue runs the lines.
   */
  readonly hasBucket?: true;
  /** Uploads the lines and returns the file's id. Nothing runs yet. Left out: `create` has them. */
  readonly upload?: (calls: HostCalls, sent: ToSend) => Promise<string>;
  /** Returns the path by which the file is deleted. Left out: nothing can be deleted. */
  readonly filePath?: (fileId: string) => string;
  /** Begins the batch and returns its id. */
  readonly create: (calls: HostCalls, sent: ToSend, fileId: string | null) => Promise<string>;
  /** Looks for a batch that was perhaps begun. `unsure`: only its end will tell. */
  readonly find: (
    calls: HostCalls,
    asked: ToFind,
  ) => Promise<{ readonly id: string } | 'unsure' | null>;
  /** `lines`: how many it must have counted before it can have ended. */
  readonly look: (calls: HostCalls, id: string, lines: number) => Promise<RemoteBatch>;
  /** Returns the path to which a cancellation is posted. */
  readonly cancelPath: (id: string) => string;
  /** Reads a path of results. Left out: it has a line of JSON for each. */
  readonly read?: (calls: HostCalls, path: string) => AsyncIterable<ReadLine>;
  /** Returns null for what is no result. `mark`: of the batch whose results are read. */
  readonly readLine: (line: JsonObject, mark: string) => RemoteLine | null;
};

// A provider's batch APIs in the forms of all hosts, for `upstream.on('*', provider.script)`. It keeps its
// own bill: a line is billed once, when its batch runs, even if nobody reads its result.
import { setTimeout } from 'node:timers/promises';
import type { Json } from './plain/reading.ts';
import type { Script } from './upstream.ts';

type Request = Parameters<Script>[1];
type Body = Record<string, unknown>;
type Line = { readonly custom_id: string; readonly url?: string; readonly body: Body };
/** An answer to a line, and what the provider bills for it. */
export type Answer = {
  readonly status: number;
  readonly body: unknown;
  readonly billedMicros: number;
};

export type HostForm = 'openai' | 'anthropic' | 'mistral' | 'gemini' | 'xai' | 'bedrock' | 'vertex';
/** The kind of provider of each. */
const kinds = {
  openai: 'openai',
  anthropic: 'anthropic',
  mistral: 'openai-compatible',
  gemini: 'google',
  xai: 'openai-compatible',
  bedrock: 'bedrock',
  vertex: 'vertex',
} as const satisfies Record<HostForm, string>;
/** What else a provider of the form needs. */
const cloudSettings: Readonly<Partial<Record<HostForm, object>>> = {
  bedrock: {
    region: 'eu-west-1',
    api_key: `AKIA${'A'.repeat(16)}:${'s'.repeat(40)}`,
    batch_bucket: 's3://aws-bucket/batches',
    batch_role: 'arn:aws:iam::123456789012:role/batches',
  },
  vertex: { project: 'p', batch_bucket: 'gs://google-bucket' },
};

/** Returns the settings of a provider of that form below an address. */
export function settingsOf(form: HostForm, address: string) {
  const version = /openai|mistral|xai/.test(form) ? '/v1' : '';
  return {
    kind: kinds[form],
    base_url: address + version,
    api_key: 'sk-1',
    ...cloudSettings[form],
  };
}

/** Returns an id of a model that the form speaks with in its usual wire format. */
export function modelAt(form: HostForm, name: string): string {
  return form === 'vertex' ? `gemini-${name}` : name;
}

type Status = 'in_progress' | 'completed' | 'expired' | 'cancelled' | 'failed';

type Remote = {
  readonly id: string;
  readonly form: HostForm;
  readonly metadata: unknown;
  readonly endpoint: string;
  readonly createdMs: number;
  lines: readonly Line[];
  readonly inputFileId: string | null;
  status: Status;
  isCancelling: boolean;
  /** Why it failed as a whole. */
  errors: readonly { readonly code: string | number; readonly message: string }[];
  output: string[];
  failures: string[];
  files: { output: string | null; errors: string | null };
};

/** The call of a batch API that a request is. */
type Step =
  | 'upload'
  | 'file'
  | 'objects'
  | 'create'
  | 'list'
  | 'look'
  | 'read'
  | 'cancel'
  | 'delete';
type Asked = { readonly step: Step; readonly form: HostForm; readonly id: string };

/** Returns null for a request that is none of a batch API. xAI's empty batch is an upload, too. */
export function stepOf(request: Request): Asked | null {
  const { method, path, body } = request;
  const atCloud = stepAtCloud(request);
  if (atCloud) return atCloud;
  const [, root, id = '', action = ''] =
    /^\/(v1\/files|v1\/batches|v1\/messages\/batches|v1\/batch\/jobs|v1beta\/batches|v1beta\/models)(?:\/([\w.-]+))?(?:[/:](\w+))?$/.exec(
      path,
    ) ?? [];
  if (root === undefined) return null;
  const forms: Readonly<Record<string, HostForm>> = {
    'v1/messages/batches': 'anthropic',
    'v1/batch/jobs': 'mistral',
    'v1beta/batches': 'gemini',
    'v1beta/models': 'gemini',
  };
  const isAtXai = isEmptyBatch(body) || id.startsWith('xbatch_');
  const form = forms[root] ?? (isAtXai ? 'xai' : 'openai');
  const asked = (step: Step) => ({ step, form, id });
  if (root === 'v1beta/models')
    return /^batchGenerateContent$|^asyncBatch/.test(action) ? asked('create') : null;
  if (action === 'cancel') return asked('cancel');
  if (action === 'results') return asked('read');
  if (action === 'requests') return asked('create');
  if (method === 'DELETE') return asked('delete');
  if (root === 'v1/files') return asked(id ? 'file' : 'upload');
  if (id) return asked('look');
  if (method === 'GET') return asked('list');
  return asked(form === 'xai' ? 'upload' : 'create');
}

/** Objects are at `/bucket/key` in both clouds; their deletion has the id of their batch, if it has one. */
function stepAtCloud({ method, path }: Request): Asked | null {
  const [, bucket] = /^\/(aws|google)-bucket\//.exec(path) ?? [];
  if (bucket !== undefined) {
    const step = ({ PUT: 'upload', DELETE: 'delete' } as const)[method] ?? 'file';
    const id = /batch_\d+/.exec(path)?.[0] ?? path;
    return { step, form: bucket === 'aws' ? 'bedrock' : 'vertex', id };
  }
  if (path === '/storage/v1/b/google-bucket/o') return { step: 'objects', form: 'vertex', id: '' };
  const [, root, id = '', action] =
    /^\/(model-invocation-jobs?|v1\/projects\/p\/locations\/global\/batchPredictionJobs)(?:\/(\w+)(?:[/:](stop|cancel))?)?$/.exec(
      path,
    ) ?? [];
  if (root === undefined) return null;
  const asked = (step: Step) =>
    ({ step, form: root.startsWith('model') ? 'bedrock' : 'vertex', id }) as const;
  if (action !== undefined) return asked('cancel');
  if (method === 'DELETE') return asked('delete');
  if (method === 'POST') return asked('create');
  return asked(id ? 'look' : 'list');
}

function isEmptyBatch(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'name' in body;
}

/** What a request gets in the place of its answer, before or after it is done. */
export type Fault = Script | null | undefined;

type Reply = { readonly status?: number; readonly body: unknown; readonly type?: string };

export class BatchProvider {
  readonly #answer: (body: Body, form: HostForm) => Answer;
  readonly files = new Map<string, string>();
  readonly batches: Remote[] = [];
  /** Microdollars by `custom_id`, for each time it ran. */
  readonly billed: (readonly [customId: string, micros: number])[] = [];
  /** True: a batch ends as soon as it is looked at. Otherwise `finish` ends it. */
  isQuick = true;
  /** True: its lists of OpenAI's form are like Groq's. */
  hasCursors = false;
  /** True: it shows files, times and statuses as Azure does. */
  isAzure = false;
  /** Called for every request. */
  before: (request: Request) => Fault = () => null;
  after: (request: Request) => Fault = () => null;
  /** Changes the lines of a file of results. */
  spoil: (lines: string[]) => string[] = (lines) => lines;
  #ids = 0;

  constructor(answer: (body: Body, form: HostForm) => Answer) {
    this.#answer = answer;
  }

  get billMicros(): number {
    return this.billed.reduce((sum, [, micros]) => sum + micros, 0);
  }

  readonly script: Script = async (response, request) => {
    const early = this.before(request);
    if (early) return early(response, request);
    const { status = 200, body, type = 'application/json' } = this.#handle(request);
    const late = this.after(request);
    if (late) return late(response, request);
    response.writeHead(status, { 'content-type': type });
    if (typeof body !== 'string') return void response.end(JSON.stringify(body));
    // In pieces, so that a reader can be killed between them.
    for (let start = 0; start < body.length && !response.destroyed; start += 65_536) {
      response.write(body.slice(start, start + 65_536));
      await setTimeout(0);
    }
    response.end();
  };

  /** Runs the batch. `ran`: how many of its lines; default: all. */
  finish(batch: Remote, status: Status = 'completed', ran = batch.lines.length): void {
    if (batch.status !== 'in_progress') return;
    batch.status = status;
    const { write, unrun } = hosts[batch.form];
    for (const [index, { custom_id: customId, body }] of batch.lines.entries()) {
      if (index >= ran) {
        const line = unrun?.(customId, status);
        if (line)
          (batch.form === 'openai' ? batch.failures : batch.output).push(JSON.stringify(line));
        continue;
      }
      const answer = this.#answer(body, batch.form);
      this.billed.push([customId, answer.billedMicros]);
      const isFailure = answer.status >= 400 && hosts[batch.form].hasFiles;
      const line = JSON.stringify(write(customId, answer));
      (isFailure ? batch.failures : batch.output).push(line);
    }
    // Not in order.
    batch.output.reverse();
    const { filesOf } = hosts[batch.form];
    if (filesOf && batch.output.length > 0)
      for (const name of filesOf(batch)) this.files.set(name, `${batch.output.join('\n')}\n`);
    if (!hosts[batch.form].hasFiles) return;
    batch.files = {
      output: batch.output.length > 0 ? this.#keep(`${batch.output.join('\n')}\n`) : null,
      errors: batch.failures.length > 0 ? this.#keep(`${batch.failures.join('\n')}\n`) : null,
    };
  }

  #keep(text: string): string {
    const id = `file-${(this.#ids += 1)}`;
    this.files.set(id, text);
    return id;
  }

  #handle(request: Request): Reply {
    const asked = stepOf(request);
    const missing = { status: 404, body: { error: { message: `nothing is at ${request.path}` } } };
    if (!asked) return missing;
    const { step, form, id } = asked;
    // The caller was killed before its end.
    if (/upload|create/.test(step) && request.text === '') return { status: 400, body: {} };
    const scope = `/${/bucket/.test(request.path) ? 's3' : 'bedrock'}/aws4_request`;
    if (form === 'bedrock' && !request.headers.authorization?.includes(scope))
      return { status: 403, body: { message: 'it is signed for another service' } };
    if (step === 'objects') return { body: this.#objects(request) };
    if (/bucket/.test(request.path)) return this.#object(request) ?? missing;
    if (step === 'create') return this.#create(request, form, id);
    if (step === 'list') return { body: this.#list(request, form) };
    if (step === 'upload' && form === 'xai')
      return { body: this.#show(this.#begin({ ...nothing, form, lines: [] })) };
    if (step === 'upload')
      return { body: { id: this.#keep(fileIn(request.text)), object: 'file' } };
    const file = this.files.get(id);
    if (step === 'file' && this.isAzure && !request.path.endsWith('/content'))
      return { body: { id, status: 'processed' } };
    if (step === 'file' && file !== undefined) {
      const lines = this.spoil(file.trimEnd().split('\n'));
      return { body: `${lines.join('\n')}\n`, type: 'application/octet-stream' };
    }
    if (step === 'delete' && file !== undefined)
      return { body: { id, deleted: this.files.delete(id) } };
    const batch = this.batches.find((one) => one.id === id);
    if (!batch) return missing;
    if (step === 'cancel') {
      if (batch.status !== 'in_progress')
        return { status: 409, body: { error: { message: 'it has ended' } } };
      batch.isCancelling = true;
    } else if (step === 'read') return this.#results(batch, request);
    else if (step === 'delete') {
      this.batches.splice(this.batches.indexOf(batch), 1);
      return { body: { id } };
    } else if (this.isQuick && batch.lines.length > 0) this.finish(batch);
    return { body: this.#shown(batch) };
  }

  /** Returns null for an object that is not there. */
  #object({ method, path, text }: Request): Reply | null {
    const name = decodeURIComponent(path);
    if (method === 'PUT') this.files.set(name, text);
    if (method === 'DELETE') this.files.delete(name);
    if (method !== 'GET') return { body: '' };
    const file = this.files.get(name);
    if (file === undefined) return null;
    return { body: `${this.spoil(file.trimEnd().split('\n')).join('\n')}\n`, type: 'x/jsonl' };
  }

  /** One on a page. */
  #objects({ query }: Request) {
    const asked = new URLSearchParams(query);
    const bucket = '/google-bucket/';
    const names = [...this.files.keys()].filter((name) =>
      name.startsWith(bucket + asked.get('prefix')!),
    );
    const start = Number(asked.get('pageToken') ?? 0);
    const items = names
      .slice(start, start + 1)
      .map((name) => ({ name: name.slice(bucket.length) }));
    return { ...(items[0] && { items, nextPageToken: String(start + 1) }) };
  }

  /** xAI's come in pages of two. */
  #results(batch: Remote, { query }: Request): Reply {
    const lines = this.spoil([...batch.output]);
    if (batch.form === 'anthropic') return { body: lines.join('\n'), type: 'application/x-jsonl' };
    const start = Number(new URLSearchParams(query).get('pagination_token') ?? 0);
    const next = start + 2 < lines.length ? `"${start + 2}"` : 'null';
    const page = lines.slice(start, start + 2).join(',');
    return { body: `{"results":[${page}],"pagination_token":${next}}` };
  }

  #create({ body }: Request, form: HostForm, id: string): Reply {
    const asked = body as Json;
    const { uris } = asked.inputConfig?.gcsSource ?? {};
    const uri = asked.inputDataConfig?.s3InputDataConfig.s3Uri ?? uris?.[0];
    const inBucket = uri?.replace(/^\w+:\//, '');
    const folder =
      asked.outputDataConfig?.s3OutputDataConfig.s3Uri ??
      asked.outputConfig?.gcsDestination.outputUriPrefix;
    const fileId = (asked.input_file_id ?? asked.input_files?.[0] ?? inBucket ?? null) as
      | string
      | null;
    const file = fileId === null ? '' : this.files.get(fileId)!.trimEnd();
    const begun = {
      form,
      metadata: asked.metadata ?? asked.batch?.displayName ?? asked.jobName ?? asked.displayName,
      endpoint: asked.endpoint ?? folder ?? '',
      createdMs: Date.now(),
      inputFileId: fileId,
      lines: file
        ? file.split('\n').map((line) => {
            const read = JSON.parse(line);
            return hosts[form].readLine?.(read, asked) ?? (read as Line);
          })
        : hosts[form].lines!(asked),
    };
    if (form !== 'xai') return { body: this.#show(this.#begin(begun)) };
    const batch = this.batches.find((one) => one.id === id)!;
    batch.lines = begun.lines;
    return { body: null };
  }

  /** Adds a batch that the gateway has not sent. */
  add(form: HostForm, lines: number, createdMs: number, metadata: unknown = null): Remote {
    const line = (_: unknown, index: number) => ({ custom_id: `other-${index}`, body: {} });
    return this.#begin({
      ...nothing,
      form,
      metadata,
      createdMs,
      lines: Array.from({ length: lines }, line),
    });
  }

  #begin(
    begun: Pick<Remote, 'form' | 'metadata' | 'endpoint' | 'createdMs' | 'lines' | 'inputFileId'>,
  ): Remote {
    const batch: Remote = {
      ...begun,
      id: `${{ anthropic: 'msgbatch', xai: 'xbatch' }[begun.form as string] ?? 'batch'}_${(this.#ids += 1)}`,
      status: 'in_progress',
      isCancelling: false,
      errors: [],
      output: [],
      failures: [],
      files: { output: null, errors: null },
    };
    this.batches.unshift(batch);
    return batch;
  }

  /** Newest first, two on a page. */
  #list({ query }: Request, form: HostForm) {
    const all = this.batches.filter((batch) => batch.form === form);
    const { hasCursors } = this;
    const asked = new URLSearchParams(query);
    const name = {
      openai: hasCursors ? 'cursor' : 'after',
      anthropic: 'after_id',
      gemini: 'pageToken',
      vertex: 'pageToken',
      bedrock: 'nextToken',
    } as const;
    const after = asked.get(name[form as 'openai']);
    const start =
      form === 'mistral'
        ? 2 * Number(asked.get('page'))
        : after === null
          ? 0
          : all.findIndex(({ id }) => id === after) + 1;
    const page = all.slice(start, start + 2);
    if (this.isQuick) for (const one of page) this.finish(one);
    const data = page.map((one) => this.#show(one));
    const hasMore = start + 2 < all.length;
    if (form === 'gemini')
      return { operations: data, ...(hasMore && { nextPageToken: page.at(-1)!.id }) };
    const { id: last } = page.at(-1) ?? {};
    if (form === 'vertex')
      return { batchPredictionJobs: data, ...(hasMore && { nextPageToken: last }) };
    if (form === 'bedrock')
      return { invocationJobSummaries: data, ...(hasMore && { nextToken: last }) };
    if (form === 'mistral') return { object: 'list', total: all.length, ...(page[0] && { data }) };
    if (!hasCursors) return { data, has_more: hasMore };
    return { data, paging: hasMore ? { next_cursor: page.at(-1)!.id } : {} };
  }

  #show(batch: Remote): object {
    const shown = hosts[batch.form].show(batch);
    if (!this.isAzure) return shown;
    const status = batch.status === 'in_progress' ? 'Validating' : batch.status;
    return { ...shown, status, created_at: new Date(batch.createdMs).toISOString() };
  }

  /** Gemini's has its results, too: as text, which may be spoiled. */
  #shown(batch: Remote): object | string {
    const shown = this.#show(batch);
    if (batch.form !== 'gemini' || batch.output.length === 0) return shown;
    const results = `{"inlinedResponses":{"inlinedResponses":[${this.spoil([...batch.output]).join(',')}]}}`;
    return JSON.stringify(shown).replace('"output":null', () => `"output":${results}`);
  }
}

const nothing = { metadata: null, endpoint: '', createdMs: Date.now(), inputFileId: null } as const;

type Host = {
  /** True: results come in files, failures apart. */
  readonly hasFiles: boolean;
  /** Lines that come with the request. */
  readonly lines?: (asked: Json) => readonly Line[];
  /** Reads a line of a file of requests; left out: it is in OpenAI's form. */
  readonly readLine?: (line: Json, asked: Json) => Line;
  /** The names of the files of results in a bucket; left out: it has none. */
  readonly filesOf?: (batch: Remote) => readonly string[];
  readonly write: (customId: string, answer: Answer) => object;
  /** The result of a line that did not run; left out: it has none. */
  readonly unrun?: (customId: string, status: Status) => object;
  readonly show: (batch: Remote) => object;
};

const seconds = (ms: number) => Math.floor(ms / 1_000);
const writeOpenAi = (custom_id: string, { status, body }: Answer) => ({
  id: `batch_req_${custom_id}`,
  custom_id,
  response: { status_code: status, request_id: 'r', body },
  error: null,
});

const hosts: Readonly<Record<HostForm, Host>> = {
  openai: {
    hasFiles: true,
    write: writeOpenAi,
    unrun(custom_id, status) {
      const code = status === 'cancelled' ? 'batch_cancelled' : 'batch_expired';
      return { custom_id, response: null, error: { code, message: 'not run' } };
    },
    show: (batch) => ({
      id: batch.id,
      object: 'batch',
      endpoint: batch.endpoint,
      status: batch.status === 'in_progress' && batch.isCancelling ? 'cancelling' : batch.status,
      errors: { data: batch.errors },
      input_file_id: batch.inputFileId,
      output_file_id: batch.files.output,
      error_file_id: batch.files.errors,
      created_at: seconds(batch.createdMs),
      // They are of no use to anybody.
      request_counts: { total: 0, completed: 7, failed: -1 },
      metadata: batch.metadata,
    }),
  },
  anthropic: {
    hasFiles: false,
    lines: ({ requests }) =>
      (requests as Json[]).map(({ custom_id, params }) => ({ custom_id, body: params })),
    write: (custom_id, { status, body }) => ({
      custom_id,
      result:
        status < 400 ? { type: 'succeeded', message: body } : { type: 'errored', error: body },
    }),
    unrun: (custom_id, status) => ({
      custom_id,
      result: { type: status === 'cancelled' ? 'canceled' : 'expired' },
    }),
    show: ({ id, status, isCancelling, lines, createdMs }) => ({
      id,
      type: 'message_batch',
      processing_status:
        status === 'in_progress' ? (isCancelling ? 'canceling' : 'in_progress') : 'ended',
      request_counts: {
        processing: lines.length,
        succeeded: 0,
        errored: 0,
        canceled: 0,
        expired: 0,
      },
      created_at: new Date(createdMs).toISOString(),
      results_url: 'http://169.254.169.254/results',
    }),
  },
  mistral: {
    hasFiles: true,
    write: writeOpenAi,
    show: ({ id, status, isCancelling, metadata, files, createdMs, errors }) => ({
      id,
      object: 'batch',
      metadata,
      output_file: files.output,
      error_file: files.errors,
      errors: errors.map(({ message }) => ({ message, count: 1 })),
      outputs: null,
      status: {
        in_progress: isCancelling ? 'CANCELLATION_REQUESTED' : 'RUNNING',
        completed: 'SUCCESS',
        expired: 'TIMEOUT_EXCEEDED',
        cancelled: 'CANCELLED',
        failed: 'FAILED',
      }[status],
      created_at: seconds(createdMs),
    }),
  },
  gemini: {
    hasFiles: false,
    lines: ({ batch }) =>
      (batch.inputConfig.requests.requests as Json[]).map(({ request, metadata }) => ({
        custom_id: metadata.custom_id,
        body: request,
      })),
    write: (custom_id, { status, body }) =>
      status < 400
        ? { response: body, metadata: { custom_id } }
        : { error: { code: 3, message: 'too odd' }, metadata: { custom_id } },
    show: ({ id, status, metadata, createdMs, errors }) => ({
      name: `batches/${id}`,
      metadata: {
        displayName: metadata,
        createTime: new Date(createdMs).toISOString(),
        output: null,
        state: {
          in_progress: 'BATCH_STATE_RUNNING',
          completed: 'BATCH_STATE_SUCCEEDED',
          expired: 'BATCH_STATE_EXPIRED',
          cancelled: 'BATCH_STATE_CANCELLED',
          failed: 'BATCH_STATE_FAILED',
        }[status],
      },
      ...(status !== 'in_progress' && { done: true }),
      ...(errors[0] && { error: errors[0] }),
    }),
  },
  bedrock: {
    hasFiles: false,
    readLine: ({ recordId, modelInput }) => ({ custom_id: recordId, body: modelInput }),
    write: (recordId, { status, body }) => ({
      recordId,
      modelInput: { messages: [] },
      ...(status < 400
        ? { modelOutput: body }
        : { error: { errorCode: status, errorMessage: 'too odd' } }),
    }),
    filesOf({ id, endpoint }) {
      const folder = `${endpoint.slice('s3:/'.length)}${id}`;
      return [`${folder}/lines.jsonl.out`, `${folder}/manifest.json.out`];
    },
    show: ({ id, status, isCancelling, metadata, endpoint, errors }) => ({
      jobArn: `arn:aws:bedrock:eu-west-1:123456789012:model-invocation-job/${id}`,
      jobName: metadata,
      outputDataConfig: { s3OutputDataConfig: { s3Uri: endpoint } },
      message: errors[0]?.message,
      status: {
        in_progress: isCancelling ? 'Stopping' : 'InProgress',
        completed: 'Completed',
        expired: 'Expired',
        cancelled: 'Stopped',
        failed: 'Failed',
      }[status],
    }),
  },
  vertex: {
    hasFiles: false,
    readLine: ({ request }, { displayName }) => ({
      custom_id: `${displayName}_${Number(request.labels.tollgate_line)}`,
      body: request,
    }),
    write: (customId, { status, body }) => ({
      status: status < 400 ? '' : 'Bad Request: {"error": {"code": 400, "message": "too odd"}}',
      processed_time: '2026-11-30T00:00:00Z',
      request: {
        contents: [],
        labels: { tollgate_thousand: '0', tollgate_line: /\d+$/.exec(customId)![0] },
      },
      response: status < 400 ? body : {},
    }),
    filesOf: (batch) => [`${directoryOf(batch)}/predictions.jsonl`],
    show: (batch) => ({
      name: `projects/p/locations/global/batchPredictionJobs/${batch.id}`,
      displayName: batch.metadata,
      outputConfig: { gcsDestination: { outputUriPrefix: batch.endpoint } },
      ...(batch.status === 'completed' && {
        outputInfo: { gcsOutputDirectory: `gs:/${directoryOf(batch)}` },
      }),
      ...(batch.errors[0] && { error: batch.errors[0] }),
      state: {
        in_progress: batch.isCancelling ? 'JOB_STATE_CANCELLING' : 'JOB_STATE_RUNNING',
        completed: 'JOB_STATE_SUCCEEDED',
        expired: 'JOB_STATE_EXPIRED',
        cancelled: 'JOB_STATE_CANCELLED',
        failed: 'JOB_STATE_FAILED',
      }[batch.status],
    }),
  },
  xai: {
    hasFiles: false,
    lines: ({ batch_requests: requests }) =>
      (requests as Json[]).map(({ batch_request_id, batch_request }) => ({
        custom_id: batch_request_id,
        body: batch_request.chat_get_completion,
      })),
    write: (batch_request_id, { status, body }) => ({
      batch_request_id,
      batch_result:
        status < 400
          ? { response: { chat_get_completion: body } }
          : { error: { message: 'too odd' } },
    }),
    show({ id, status, lines, output, errors }) {
      const good = output.filter((line) => line.includes('"response"')).length;
      const hasEnded = status !== 'in_progress' && status !== 'failed';
      return {
        batch_id: id,
        cancel_by_xai_message: errors[0]?.message ?? null,
        state: {
          num_requests: lines.length,
          num_pending: hasEnded ? 0 : lines.length,
          num_success: good,
          num_error: output.length - good,
          num_cancelled: hasEnded ? lines.length - output.length : 0,
        },
      };
    },
  },
};

/** Returns the file of a form. */
function fileIn(form: string): string {
  const [, file] =
    /filename="[^"]*"\r\ncontent-type: [^\r]*\r\n\r\n([\s\S]*?)\r\n--/i.exec(form) ?? [];
  return file ?? '';
}

/** Vertex's, for the results of a batch. */
function directoryOf({ id, metadata }: Remote): string {
  return `/google-bucket/${String(metadata)}/prediction-model-${id}-2026-11-30T00:00:00.1Z`;
}

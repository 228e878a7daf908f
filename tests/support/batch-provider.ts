// A provider's batch APIs in both forms, for `upstream.on('*', provider.script)`. It keeps its own bill:
// a line is billed once, when its batch runs, whoever asks for it and whether or not anybody reads it.
import { setTimeout } from 'node:timers/promises';
import type { Script } from './upstream.ts';

type Request = Parameters<Script>[1];
type Line = { readonly custom_id: string; readonly body: Record<string, unknown> };
/** An answer to a line, and what the provider bills for it. */
export type Answer = {
  readonly status: number;
  readonly body: unknown;
  readonly billedMicros: number;
};

type AskedBatch = {
  readonly input_file_id: string;
  readonly endpoint: string;
  readonly metadata: unknown;
  readonly requests: readonly {
    readonly custom_id: string;
    readonly params: Record<string, unknown>;
  }[];
};

type Remote = {
  readonly id: string;
  readonly form: 'openai' | 'anthropic';
  readonly metadata: unknown;
  readonly endpoint: string;
  readonly createdMs: number;
  readonly lines: readonly Line[];
  readonly inputFileId: string | null;
  status: 'in_progress' | 'completed' | 'expired' | 'cancelled' | 'failed';
  isCancelling: boolean;
  errors: unknown;
  output: string[];
  failures: string[];
  files: { output: string | null; errors: string | null };
};

/** What a request gets in the place of its answer, before or after it is done. */
export type Fault = Script | null | undefined;

export class BatchProvider {
  readonly #answer: (body: Record<string, unknown>) => Answer;
  readonly files = new Map<string, string>();
  readonly batches: Remote[] = [];
  /** Microdollars by `custom_id`, for each time it ran. */
  readonly billed: (readonly [customId: string, micros: number])[] = [];
  /** True: a batch ends as soon as it is looked at. Otherwise `finish` ends it. */
  isQuick = true;
  /** True: its lists of OpenAI's form are like Groq's. */
  hasCursors = false;
  /** Called for every request. */
  before: (request: Request) => Fault = () => null;
  after: (request: Request) => Fault = () => null;
  /** Changes the lines of a file of results. */
  spoil: (lines: string[]) => string[] = (lines) => lines;
  #ids = 0;

  constructor(answer: (body: Record<string, unknown>) => Answer) {
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
  finish(batch: Remote, status: Remote['status'] = 'completed', ran = batch.lines.length): void {
    if (batch.status !== 'in_progress') return;
    batch.status = status;
    const [code, unrun] =
      status === 'cancelled' ? ['batch_cancelled', 'canceled'] : ['batch_expired', 'expired'];
    for (const [index, { custom_id, body }] of batch.lines.entries()) {
      if (index >= ran) {
        if (batch.form === 'anthropic')
          batch.output.push(JSON.stringify({ custom_id, result: { type: unrun } }));
        else
          batch.failures.push(
            JSON.stringify({ custom_id, response: null, error: { code, message: 'not run' } }),
          );
        continue;
      }
      const answer = this.#answer(body);
      this.billed.push([custom_id, answer.billedMicros]);
      const isGood = answer.status < 400;
      if (batch.form === 'openai')
        (isGood ? batch.output : batch.failures).push(
          JSON.stringify({
            id: `batch_req_${index}`,
            custom_id,
            response: { status_code: answer.status, request_id: 'r', body: answer.body },
            error: null,
          }),
        );
      else
        batch.output.push(
          JSON.stringify({
            custom_id,
            result: isGood
              ? { type: 'succeeded', message: answer.body }
              : { type: 'errored', error: answer.body },
          }),
        );
    }
    // Not in order.
    batch.output.reverse();
    if (batch.form === 'anthropic') return;
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

  #handle(request: Request): { status?: number; body: unknown; type?: string } {
    const { method, path, text } = request;
    const [, root, id, action] =
      /^\/v1\/(files|batches|messages\/batches)(?:\/([\w-]+))?(?:\/(\w+))?$/.exec(path) ?? [];
    const missing = { status: 404, body: { error: { message: `nothing is at ${path}` } } };
    if (root === undefined) return missing;
    // The caller was killed before its end.
    if (method === 'POST' && !id && text === '') return { status: 400, body: {} };
    if (root === 'files') {
      if (method === 'POST') return { body: { id: this.#keep(fileIn(text)), object: 'file' } };
      const file = this.files.get(id!);
      if (file === undefined) return missing;
      if (method === 'DELETE') return { body: { id, deleted: this.files.delete(id!) } };
      const lines = this.spoil(file.trimEnd().split('\n'));
      return { body: `${lines.join('\n')}\n`, type: 'application/octet-stream' };
    }
    const form = root === 'batches' ? 'openai' : 'anthropic';
    if (method === 'POST' && !id) return { body: this.#show(this.#create(request, form)) };
    if (!id) return { body: this.#list(request, form) };
    const batch = this.batches.find((one) => one.id === id);
    if (!batch) return missing;
    if (action === 'cancel') {
      if (batch.status !== 'in_progress')
        return { status: 409, body: { error: { message: 'it has ended' } } };
      batch.isCancelling = true;
    } else if (action === 'results')
      return { body: this.spoil(batch.output).join('\n'), type: 'application/x-jsonl' };
    else if (method === 'DELETE') {
      this.batches.splice(this.batches.indexOf(batch), 1);
      return { body: { id } };
    } else if (this.isQuick) this.finish(batch);
    return { body: this.#show(batch) };
  }

  #create({ body }: Request, form: Remote['form']): Remote {
    const asked = body as AskedBatch;
    const lines: Line[] =
      form === 'openai'
        ? this.files
            .get(asked.input_file_id)!
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as Line)
        : asked.requests.map(({ custom_id, params }) => ({
            custom_id,
            body: params,
          }));
    return this.#begin({
      form,
      metadata: asked.metadata,
      endpoint: asked.endpoint,
      createdMs: Date.now(),
      lines,
      inputFileId: asked.input_file_id ?? null,
    });
  }

  /** Adds a batch that the gateway has not sent. */
  add(form: Remote['form'], lines: number, createdMs: number, metadata: unknown = null): Remote {
    const line = (_: unknown, index: number) => ({ custom_id: `other-${index}`, body: {} });
    return this.#begin({
      form,
      metadata,
      endpoint: '',
      createdMs,
      lines: Array.from({ length: lines }, line),
      inputFileId: null,
    });
  }

  #begin(
    begun: Pick<Remote, 'form' | 'metadata' | 'endpoint' | 'createdMs' | 'lines' | 'inputFileId'>,
  ): Remote {
    const batch: Remote = {
      ...begun,
      id: `${begun.form === 'openai' ? 'batch' : 'msgbatch'}_${(this.#ids += 1)}`,
      status: 'in_progress',
      isCancelling: false,
      errors: null,
      output: [],
      failures: [],
      files: { output: null, errors: null },
    };
    this.batches.unshift(batch);
    return batch;
  }

  /** Newest first, two on a page. */
  #list({ query }: Request, form: Remote['form']) {
    const all = this.batches.filter((batch) => batch.form === form);
    const { hasCursors } = this;
    const openAis = hasCursors ? 'cursor' : 'after';
    const after = new URLSearchParams(query).get(form === 'openai' ? openAis : 'after_id');
    const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const page = all.slice(start, start + 2);
    if (this.isQuick) for (const one of page) this.finish(one);
    const data = page.map((one) => this.#show(one));
    const hasMore = start + 2 < all.length;
    if (!hasCursors) return { data, has_more: hasMore };
    return { data, paging: hasMore ? { next_cursor: page.at(-1)!.id } : {} };
  }

  #show(batch: Remote): object {
    const { id, form, createdMs, lines, status, isCancelling, files } = batch;
    if (form === 'openai')
      return {
        id,
        object: 'batch',
        endpoint: batch.endpoint,
        status: status === 'in_progress' && isCancelling ? 'cancelling' : status,
        errors: batch.errors,
        input_file_id: batch.inputFileId,
        output_file_id: files.output,
        error_file_id: files.errors,
        created_at: Math.floor(createdMs / 1_000),
        // They are of no use to anybody.
        request_counts: { total: 0, completed: 7, failed: -1 },
        metadata: batch.metadata,
      };
    const running = isCancelling ? 'canceling' : 'in_progress';
    return {
      id,
      type: 'message_batch',
      processing_status: status === 'in_progress' ? running : 'ended',
      request_counts: {
        processing: lines.length,
        succeeded: 0,
        errored: 0,
        canceled: 0,
        expired: 0,
      },
      created_at: new Date(createdMs).toISOString(),
      results_url: 'http://169.254.169.254/results',
    };
  }
}

/** Returns the file of a form. */
function fileIn(form: string): string {
  const [, file] =
    /filename="[^"]*"\r\ncontent-type: [^\r]*\r\n\r\n([\s\S]*?)\r\n--/i.exec(form) ?? [];
  return file ?? '';
}

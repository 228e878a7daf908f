// The form that sends a request of one call with the reader's key.
import { addCopyButton } from '../copy.ts';
import { element, prose } from '../dom.ts';
import { readKey, watchKey } from '../key.ts';
import type { Call, Parameter } from './document.ts';
import { watchModels } from './models.ts';
import { addressOf, headersOf, type SampleRequest } from './request.ts';
import { errorCode, send, streamedText, type Progress } from './send.ts';

const jsonType = 'application/json';

/** True when the call takes a key of the reader's, and a body that the form can write. */
export function canBeTried({ security = [], requestBody }: Call): boolean {
  const takesKey = security.some((scheme) => 'bearer' in scheme);
  return takesKey && (requestBody === undefined || jsonType in requestBody.content);
}

type Options = {
  readonly example: SampleRequest;
  /** Called with the request whenever the reader edits it. */
  readonly onChange: (request: SampleRequest) => void;
};

export function createForm(call: Call, { example, onChange }: Options): HTMLElement {
  const { operationId, method, path, parameters = [] } = call;
  const id = (name: string) => `try-${operationId}-${name}`;
  const shown = parameters.filter((parameter) =>
    ['path', 'query', 'header'].includes(parameter.in),
  );
  const inputs = new Map(shown.map((parameter) => [parameter, inputFor(parameter, id)]));
  const fields = shown.map((parameter) => ({
    place: parameter.in,
    view: field(parameter.name, id(parameter.name), inputs.get(parameter)!),
  }));
  const headers = fields.filter(({ place }) => place === 'header').map(({ view }) => view);
  const body =
    example.body === null
      ? null
      : element('textarea', { id: id('body'), rows: '9', spellcheck: 'false' });
  if (body) body.value = example.body!;
  const button = element('button', { type: 'submit', class: 'primary' }, 'Send');
  const stop = element('button', { type: 'button', hidden: true }, 'Stop');
  const answer = element('div', { class: 'answer' });
  const form = element(
    'form',
    { class: 'try' },
    ...fields.filter(({ place }) => place !== 'header').map(({ view }) => view),
    body && modelField(body, path, id('model')),
    body && field('Body', body.id, body),
    headers.length === 0
      ? null
      : element('details', {}, element('summary', {}, 'Headers'), ...headers),
    element('div', { class: 'buttons' }, button, stop),
    answer,
  );

  const request = (): SampleRequest => {
    const values = new Map(
      [...inputs].map(([parameter, input]) => [parameter, input.value.trim()]),
    );
    return {
      ...example,
      url: location.origin + addressOf(call, values),
      headers: { ...(body && { 'Content-Type': jsonType }), ...headersOf(values) },
      body: body?.value ?? null,
    };
  };
  form.addEventListener('input', () => onChange(request()));
  watchKey((key) => {
    const costs = key?.startsWith('tg_live_') && method === 'POST';
    button.textContent = costs ? 'Send with the live key (charged)' : 'Send';
  });

  let running: AbortController | null = null;
  stop.addEventListener('click', () => running?.abort());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (readKey() === null) {
      answer.replaceChildren(message('Enter your key at the top of the page first.'));
      document.querySelector<HTMLInputElement>('#key')?.focus();
      return;
    }
    void run();
  });
  return form;

  async function run(): Promise<void> {
    running = new AbortController();
    button.disabled = true;
    stop.hidden = false;
    answer.replaceChildren(message('Waiting for the answer …'));
    const view = createAnswerView();
    try {
      await send(request(), running.signal, (progress) => {
        if (!view.root.isConnected) answer.replaceChildren(view.root);
        view.show(progress);
      });
      view.end();
    } catch (error) {
      const wasStopped = running.signal.aborted;
      const text = error instanceof Error ? error.message : String(error);
      answer.append(message(wasStopped ? 'Stopped.' : `The connection failed: ${text}`));
    } finally {
      button.disabled = false;
      stop.hidden = true;
    }
  }
}

function message(text: string): HTMLElement {
  return element('p', { role: 'status' }, text);
}

function field(name: string, id: string, input: HTMLElement): HTMLElement {
  return element('div', { class: 'field' }, element('label', { for: id }, name), input);
}

function inputFor(
  { name, schema, required = false }: Parameter,
  id: (name: string) => string,
): HTMLInputElement | HTMLSelectElement {
  if (!schema?.enum) {
    const value = String(schema?.examples?.[0] ?? '');
    return element('input', { id: id(name), autocomplete: 'off', required, value });
  }
  const options = ['', ...schema.enum.map(String)];
  return element(
    'select',
    { id: id(name) },
    ...options.map((value) => element('option', { value }, value)),
  );
}

/** Returns a list of the models that the key may run. A choice is written into the body. */
function modelField(body: HTMLTextAreaElement, path: string, id: string): HTMLElement | null {
  if (!body.value.includes('"model"')) return null;
  const select = element('select', { id });
  const type = path.startsWith('/v1/images') ? 'image' : 'chat';
  watchModels(type, (names) => {
    const current = modelIn(body.value);
    const all = current !== null && !names.includes(current) ? [current, ...names] : names;
    select.replaceChildren(
      ...all.map((name) => element('option', { value: name, selected: name === current }, name)),
    );
  });
  select.addEventListener('input', () => {
    body.value = body.value.replace(
      /("model"\s*:\s*)"[^"]*"/,
      (_whole, name: string) => name + JSON.stringify(select.value),
    );
  });
  return field('Model', id, select);
}

function modelIn(body: string): string | null {
  return /"model"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? null;
}

/** Shows the answer: status, text, headers and everything that came. */
function createAnswerView() {
  const status = element('p', { role: 'status', class: 'status' });
  const text = element('pre', { class: 'text', tabindex: '0', hidden: true });
  const headers = element('dl', {});
  const raw = element('code', {});
  const figure = element(
    'figure',
    { class: 'code' },
    element('figcaption', {}, 'Answer'),
    element('pre', { tabindex: '0', class: 'raw' }, raw),
  );
  addCopyButton(figure);
  const details = element('details', {}, element('summary', {}, 'Headers'), headers);
  const root = element('div', {}, status, text, figure, details);
  let last: Progress | null = null;
  return {
    root,
    show(progress: Progress): void {
      last = progress;
      status.className = progress.isOk ? 'status ok' : 'status bad';
      status.textContent = `${progress.status} · ${Math.round(progress.elapsedMs)} ms`;
      const streamed = streamedText(progress.raw);
      text.hidden = streamed === null;
      text.textContent = shortened(streamed ?? '');
      raw.textContent = shortened(progress.raw, progress.leftOut);
      if (headers.childElementCount > 0) return;
      for (const [name, value] of progress.headers)
        headers.append(element('dt', {}, name), element('dd', {}, value));
    },
    /** Called when the answer is complete. */
    end(): void {
      if (!last) return;
      const code = last.isOk ? null : errorCode(last.raw);
      raw.textContent = shortened(indented(last.raw), last.leftOut);
      if (code === null) return;
      const link = element(
        'a',
        { href: `/docs/errors#${code}` },
        ...prose(`What \`${code}\` means`),
      );
      status.after(element('p', {}, link));
    },
  };
}

/** A browser takes seconds to lay out millions of characters. */
const shownMax = 200_000;

function shortened(text: string, leftOut = 0): string {
  const more = Math.max(0, text.length - shownMax) + leftOut;
  if (more === 0) return text;
  return `${text.slice(0, shownMax)}\n… ${more} more characters are not shown.`;
}

function indented(raw: string): string {
  try {
    return JSON.stringify(JSON.parse(raw), null, 2);
  } catch {
    return raw;
  }
}

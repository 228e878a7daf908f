// The API reference: reads the gateway's own OpenAPI document and shows every call.
import { closed, element, prose } from './dom.ts';
import { createKeyForm } from './key.ts';
import {
  groupsOf,
  resolve,
  schemaOf,
  type Answer,
  type ApiDocument,
  type Call,
  type Group,
  type Parameter,
} from './reference/document.ts';
import { createSamples } from './reference/sample-view.ts';
import { exampleRequest } from './reference/request.ts';
import { renderSchema } from './reference/schema-view.ts';
import { canBeTried, createForm } from './reference/try-it.ts';

void start(document.querySelector<HTMLElement>('#reference')!);

async function start(root: HTMLElement): Promise<void> {
  const response = await fetch('/openapi.json').catch(() => null);
  if (!response?.ok) {
    root.replaceChildren(
      element('p', {}, 'The description of the API cannot be read. Load this page again.'),
    );
  } else {
    const api = (await response.json()) as ApiDocument;
    const groups = groupsOf(api, root.dataset['part'] === 'reference' ? 'customers' : 'operators');
    root.replaceChildren(
      ...(groups.some(({ calls }) => calls.some(canBeTried)) ? [createKeyForm()] : []),
      ...groups.map((group) => renderGroup(api, group)),
    );
    renderContents(groups);
    scrollToFragment();
  }
  root.removeAttribute('aria-busy');
}

function renderGroup(api: ApiDocument, { name, description, calls }: Group): HTMLElement {
  return element(
    'section',
    {},
    element('h2', { id: idOf(name) }, name),
    description === '' ? null : element('p', {}, ...prose(description)),
    ...calls.map((call) => renderCall(api, call)),
  );
}

function idOf(name: string): string {
  return name.toLowerCase().replaceAll(/\W+/g, '-');
}

function renderCall(api: ApiDocument, call: Call): HTMLElement {
  const { operationId, method, path, summary, description, parameters = [], requestBody } = call;
  const contents = Object.entries(requestBody?.content ?? {}).filter(([, { schema }]) => schema);
  const text = element(
    'div',
    { class: 'call-text' },
    ...(description ?? '').split('\n\n').map((part) => element('p', {}, ...prose(part))),
    parameters.length === 0
      ? null
      : closed(['Parameters'], () =>
          element('ul', { class: 'fields' }, ...parameters.map(renderParameter)),
        ),
    ...contents.map(([type, { schema }]) =>
      closed(['Body, ', element('code', {}, type)], () => renderSchema(api, schema!)),
    ),
    closed(['Answers'], () => renderAnswers(api, call)),
  );
  const example = exampleRequest(api, call, location.origin);
  const samples = example && createSamples(example);
  if (samples && canBeTried(call))
    text.append(closed(['Try it'], () => createForm(call, { example, onChange: samples.show })));
  return element(
    'section',
    { class: 'call', id: operationId },
    element('h3', {}, summary ?? operationId),
    element('p', {}, element('code', { class: 'path' }, `${method} `, ...breakable(path))),
    text,
    samples && samples.root,
  );
}

function renderParameter({ name, in: place, required = false, description = '' }: Parameter) {
  return element(
    'li',
    {},
    element('code', {}, name),
    element('span', { class: 'type' }, ` ${place === 'query' ? 'query' : `in the ${place}`} `),
    required ? element('strong', {}, 'required') : null,
    element('span', { class: 'note' }, ...prose(description)),
  );
}

function renderAnswers(api: ApiDocument, { responses }: Call): HTMLElement {
  const items = Object.entries(responses).map(([status, described]) => {
    const answer: Answer = resolve(api, described);
    const title = [element('code', {}, status), ' ', ...linkCodes(answer.description ?? '')];
    const bodies = Object.entries(answer.content ?? {}).flatMap(([type, media]) => {
      const schema = schemaOf(media);
      if (!schema) return [];
      const note = type === 'text/event-stream' ? ', the data of an event' : '';
      return [closed([element('code', {}, type), note], () => renderSchema(api, schema))];
    });
    return element('li', {}, element('div', {}, ...title), ...bodies);
  });
  return element('ul', { class: 'fields' }, ...items);
}

/** Example: "`insufficient_balance`: …" links to the entry of that error. */
function linkCodes(description: string): Node[] {
  return prose(description).map((part, index, all) => {
    const next = all[index + 1]?.textContent ?? '';
    const isCode = part instanceof HTMLElement && next.startsWith(':');
    return isCode ? element('a', { href: `/docs/errors#${part.textContent}` }, part) : part;
  });
}

/** Lists the calls in the navigation, below the page. */
function renderContents(shown: readonly Group[]): void {
  const groups = shown.flatMap(({ name, calls }) => [
    element('li', { class: 'group' }, name),
    ...calls.map(({ operationId, method, path }) => {
      const title = [element('small', {}, method), ' ', ...breakable(path)];
      return element('li', {}, element('a', { href: `#${operationId}` }, ...title));
    }),
  ]);
  const list = element('ul', { class: 'calls', 'aria-label': 'Calls' }, ...groups);
  document.querySelector('#navigation a[aria-current=page]')!.after(list);
}

/** A path may break before a slash or a colon. */
function breakable(path: string): Node[] {
  return path.split(/(?=[/:])/).flatMap((part) => [element('wbr', {}), new Text(part)]);
}

/** The browser looked for the fragment before there was anything. */
function scrollToFragment(): void {
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

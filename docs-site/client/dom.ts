// Makes elements. Text is never read as HTML.

type Child = Node | string | null;
type Attributes = Readonly<Record<string, string | boolean>>;

/** Example: `element('a', { href: '/docs' }, 'Start')`. An attribute that is false is left out. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Returns text with its `code` in backticks as elements. */
export function prose(text: string): Node[] {
  return text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? element('code', {}, part) : new Text(part)));
}

/** Returns a block that is closed at first. Its content is made when it is first opened. */
export function closed(title: readonly (Node | string)[], fill: () => Node): HTMLDetailsElement {
  const details = element('details', {}, element('summary', {}, ...title));
  details.addEventListener('toggle', () => details.append(fill()), { once: true });
  return details;
}

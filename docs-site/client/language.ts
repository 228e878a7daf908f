// The language of the samples. The reader's choice is kept for later visits and holds on all pages.
import { element } from './dom.ts';

const storageName = 'tollgate-docs-language';
const changed = 'tollgate-language';

export type Tab = { readonly name: string; readonly title: string };

let tabsCount = 0;

/**
 * Returns a list of tabs, each with a panel, or all with one. Calls `show` with the place of the
 * chosen language, now and after every change. A choice among languages that these tabs lack
 * changes nothing here.
 */
export function createTabs(
  tabs: readonly Tab[],
  panels: readonly HTMLElement[],
  show: (at: number) => void,
): HTMLElement {
  tabsCount += 1;
  const buttons = tabs.map(({ title }, at) => {
    const panel = panels[at] ?? panels[0]!;
    panel.id ||= `panel-${tabsCount}-${at}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-label', panels.length > 1 ? title : 'Code');
    return element('button', { type: 'button', role: 'tab', 'aria-controls': panel.id }, title);
  });
  const choose = (at: number) => {
    localStorage.setItem(storageName, tabs[at]!.name);
    dispatchEvent(new Event(changed));
  };
  let current = 0;
  const update = () => {
    const chosen = tabs.findIndex(({ name }) => name === localStorage.getItem(storageName));
    if (chosen !== -1) current = chosen;
    buttons.forEach((button, at) => {
      button.setAttribute('aria-selected', String(at === current));
      button.tabIndex = at === current ? 0 : -1;
    });
    show(current);
  };
  buttons.forEach((button, at) => button.addEventListener('click', () => choose(at)));
  const list = element(
    'div',
    { role: 'tablist', 'aria-label': 'Language', class: 'tabs' },
    ...buttons,
  );
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (current + step + tabs.length) % tabs.length;
    choose(next);
    buttons[next]!.focus();
  });
  addEventListener(changed, update);
  update();
  return list;
}

/** Shows one of the samples that a guide has in several languages. */
export function startTabs(group: HTMLElement): void {
  const panels = [...group.querySelectorAll<HTMLElement>('[data-language]')];
  const tabs = panels.map(({ dataset }) => ({
    name: dataset['language']!,
    title: dataset['title']!,
  }));
  const show = (at: number) => panels.forEach((panel, index) => (panel.hidden = index !== at));
  group.prepend(createTabs(tabs, panels, show));
}

// The script of every documentation page. Pages can be read without it.
import { addCopyButton, addPageButton } from './copy.ts';
import { startFilter } from './filter.ts';
import { createKeyForm, watchKey } from './key.ts';
import { startTabs } from './language.ts';
import { startSearch } from './search.ts';

startSearch(document.querySelector<HTMLFormElement>('form.search')!);
startMenu(document.querySelector<HTMLButtonElement>('#menu')!);
document.querySelectorAll<HTMLElement>('figure.code:not(.output)').forEach(addCopyButton);
document.querySelectorAll<HTMLElement>('.languages').forEach(startTabs);
document.querySelectorAll<HTMLElement>('.page-tools').forEach(addPageButton);
startFilter([...document.querySelectorAll<HTMLTableElement>('table.models')]);
showCurrentPage(document.querySelector<HTMLElement>('#navigation')!);
fillSamples();

/** Shows and hides the navigation on a phone. */
function startMenu(button: HTMLButtonElement): void {
  button.hidden = false;
  const toggle = (isOpen: boolean) => {
    button.setAttribute('aria-expanded', String(isOpen));
    document.body.classList.toggle('menu-open', isOpen);
  };
  button.addEventListener('click', () => toggle(button.getAttribute('aria-expanded') !== 'true'));
  addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') toggle(false);
  });
}

/** Scrolls a long navigation to the page that is open. */
function showCurrentPage(navigation: HTMLElement): void {
  const current = navigation.querySelector<HTMLElement>('[aria-current=page]');
  if (current) navigation.scrollTop = current.offsetTop - navigation.clientHeight / 2;
}

/** Writes this gateway's address and the reader's key into the samples. */
function fillSamples(): void {
  for (const place of document.querySelectorAll('[data-fill=address]'))
    place.textContent = location.origin;
  const places = [...document.querySelectorAll('[data-fill=key]')];
  if (places.length === 0) return;
  const empty = places.map(({ textContent }) => textContent);
  watchKey((key) => places.forEach((place, index) => (place.textContent = key ?? empty[index]!)));
  const title = document.querySelector('article h1')!;
  title.after(createKeyForm());
}

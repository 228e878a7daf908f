// The reader's key. It stays in this tab's storage and is sent only to the gateway.

const storageName = 'tollgate-docs-key';
const changed = 'tollgate-key';

/** null when the reader has entered none. */
export function readKey(): string | null {
  return sessionStorage.getItem(storageName);
}

/** Calls `listener` now and after every change. */
export function watchKey(listener: (key: string | null) => void): void {
  addEventListener(changed, () => listener(readKey()));
  listener(readKey());
}

/** Returns a form in which the reader enters the key. Every form on a page shows the same key. */
export function createKeyForm(): HTMLFormElement {
  const form = document.createElement('form');
  form.className = 'key';
  form.innerHTML = `<label for="key">Your key</label>
<input id="key" type="password" placeholder="tg_test_…" autocomplete="off" spellcheck="false" aria-describedby="key-note">
<p id="key-note" role="status"></p>`;
  const input = form.querySelector('input')!;
  const note = form.querySelector('p')!;
  let isAdmin = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  input.addEventListener('input', () => {
    const key = input.value.trim();
    isAdmin = key.startsWith('tg_admin_');
    if (key === '' || isAdmin) sessionStorage.removeItem(storageName);
    else sessionStorage.setItem(storageName, key);
    dispatchEvent(new Event(changed));
  });
  watchKey((key) => {
    if (!isAdmin && input.value.trim() !== (key ?? '')) input.value = key ?? '';
    note.replaceChildren(...(isAdmin ? [adminNote] : noteOn(key)));
  });
  return form;
}

/** An admin key opens all accounts: it is neither kept nor shown. */
const adminNote = 'This is an admin key. It is not kept. Use an API key here.';

function noteOn(key: string | null): (Node | string)[] {
  if (key === null)
    return [
      'Paste a key, and the samples show it. It stays in this tab. Make a ',
      linkTo('/keys?mode=test', 'test key'),
      ' in the dashboard: its requests cost nothing.',
    ];
  if (key.startsWith('tg_test_')) return ['Test key: the sandbox answers, and nothing is charged.'];
  if (key.startsWith('tg_live_')) return ['Live key: requests cost money.'];
  return ['A key begins with tg_test_ or tg_live_.'];
}

function linkTo(address: string, text: string): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = address;
  link.textContent = text;
  return link;
}

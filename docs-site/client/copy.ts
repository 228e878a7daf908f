/** Adds a button to a code block that copies its text. */
export function addCopyButton(figure: HTMLElement): void {
  const code = () => figure.querySelector('code')!;
  figure.append(
    createCopyButton('Copy', {
      read: () => Promise.resolve(code().textContent.replace(/\n$/, '')),
      select: code,
    }),
  );
}

/** Adds a button that copies the page as Markdown. */
export function addPageButton(tools: HTMLElement): void {
  const { href } = tools.querySelector('a')!;
  const read = async () => (await fetch(href)).text();
  tools.prepend(createCopyButton('Copy page', { read }), ' ');
}

type Source = {
  readonly read: () => Promise<string>;
  /** Without HTTPS there is no clipboard: this is selected instead. */
  readonly select?: () => HTMLElement;
};

function createCopyButton(name: string, { read, select }: Source): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = name;
  button.addEventListener('click', () => void copy());
  return button;

  async function copy(): Promise<void> {
    button.textContent = await write().then(
      () => 'Copied',
      () => (select ? 'Press Ctrl+C' : 'Not possible here'),
    );
    setTimeout(() => (button.textContent = name), 2_000);
  }

  async function write(): Promise<void> {
    try {
      await navigator.clipboard.writeText(await read());
    } catch (error) {
      if (select) getSelection()?.selectAllChildren(select());
      throw error;
    }
  }
}

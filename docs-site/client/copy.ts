/** Adds a button to a code block that copies its text. */
export function addCopyButton(figure: HTMLElement): void {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  const name = 'Copy';
  button.textContent = name;
  button.addEventListener('click', () => void copy());
  figure.append(button);

  async function copy(): Promise<void> {
    const text = figure.querySelector('pre')!.textContent.replace(/\n$/, '');
    button.textContent = (await write(text)) ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => (button.textContent = name), 2_000);
  }

  /** Without HTTPS there is no clipboard: the text is selected instead. */
  async function write(text: string): Promise<boolean> {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      getSelection()?.selectAllChildren(figure.querySelector('code')!);
      return false;
    }
  }
}

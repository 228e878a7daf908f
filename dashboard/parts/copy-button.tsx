import { ActionIcon, Button, Tooltip, type MantineSize } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { showError } from './notify.ts';

type Text = string | (() => Promise<string>);

type Props = {
  /** A function is called for the text when the button is pressed. */
  readonly text: Text;
  /** Label for the tooltip and screen readers: `Copy key`. */
  readonly label?: string;
  /** Shows the label on the button. */
  readonly wide?: boolean;
  readonly size?: MantineSize;
  /** Takes the focus when it appears; only with `wide`. */
  readonly autoFocus?: boolean;
};

/** `<CopyButton text={id} label="Copy ID" />` */
export function CopyButton({
  text,
  label = 'Copy',
  wide = false,
  size = 'sm',
  autoFocus = false,
}: Props) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      if (await copyText(text)) return setCopied(true);
      throw new Error('Your browser blocked copying. Select the text and copy it manually.');
    } catch (thrown) {
      showError(thrown);
    }
  };
  const icon = isCopied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />;
  if (wide) {
    return (
      <Button
        size={size}
        variant="default"
        leftSection={icon}
        onClick={() => void copy()}
        autoFocus={autoFocus}
      >
        <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
      </Button>
    );
  }
  return (
    <Tooltip label={isCopied ? 'Copied' : label}>
      <ActionIcon
        size={size}
        color={isCopied ? 'green' : 'gray'}
        onClick={() => void copy()}
        aria-label={isCopied ? 'Copied' : label}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

/**
 * Copies a text to the clipboard. Returns false when the browser forbids it. Also works over plain
 * http, where there is no Clipboard API.
 */
async function copyText(text: Text): Promise<boolean> {
  const promised = typeof text === 'string' ? text : text();
  try {
    if (typeof promised === 'string') await navigator.clipboard.writeText(promised);
    else await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blobOf(promised) })]);
    return true;
  } catch {
    return copyBySelection(await promised);
  }
}

/** Safari refuses a text that arrives after the click, but not the promise of one. */
async function blobOf(text: Promise<string>): Promise<Blob> {
  return new Blob([await text], { type: 'text/plain' });
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.setAttribute('readonly', '');
  Object.assign(field.style, { position: 'fixed', opacity: '0' });
  // An open dialog traps the focus, so the field must be inside it.
  (focused?.closest('[role="dialog"]') ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}

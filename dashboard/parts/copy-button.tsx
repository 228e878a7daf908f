import { ActionIcon, Button, Tooltip, type MantineSize } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { copyText } from './copy-text.ts';
import { showError } from './notify.ts';

type Props = {
  readonly text: string;
  /** What is copied, for the tooltip and screen readers: `Copy the key`. */
  readonly label?: string;
  /** With the label written out. */
  readonly wide?: boolean;
  readonly size?: MantineSize;
};

/** `<CopyButton text={id} label="Copy the id" />` */
export function CopyButton({ text, label = 'Copy', wide = false, size = 'sm' }: Props) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    if (await copyText(text)) setCopied(true);
    else showError(new Error('The browser does not allow copying here. Select the text and copy it by hand.'));
  };
  const icon = isCopied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />;
  if (wide) {
    return (
      <Button size={size} variant="default" leftSection={icon} onClick={() => void copy()}>
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

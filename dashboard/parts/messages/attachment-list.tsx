// The files of a message. A link is text: nothing is loaded from elsewhere.
import { CloseButton, Text } from '@mantine/core';
import { IconFileText, IconFileTypePdf, IconLink } from '@tabler/icons-react';
import { dataUrl } from '../../api/chat-formats/fields.ts';
import type { Attachment } from '../../api/chat-formats/types.ts';
import classes from './messages.module.css';

type Props = {
  readonly attachments: readonly Attachment[];
  /** Absent: they cannot be removed. */
  readonly onRemove?: (attachment: Attachment) => void;
};

export function AttachmentList({ attachments, onRemove }: Props) {
  if (attachments.length === 0) return null;
  return (
    <ul className={classes.attachments} aria-label="Files">
      {attachments.map((attachment, index) => (
        <li key={index} className={classes.attachment}>
          {attachment.kind === 'image' ? (
            <img src={dataUrl(attachment)} alt={attachment.name} />
          ) : (
            <>
              <FileIcon kind={attachment.kind} />
              <Text span size="sm" truncate title={nameOf(attachment)}>
                {nameOf(attachment)}
              </Text>
            </>
          )}
          {onRemove && (
            <CloseButton
              size="sm"
              aria-label={`Remove ${nameOf(attachment)}`}
              onClick={() => onRemove(attachment)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

const icons = { pdf: IconFileTypePdf, text: IconFileText, link: IconLink };

function FileIcon({ kind }: { readonly kind: keyof typeof icons }) {
  const Icon = icons[kind];
  return <Icon size={18} style={{ flex: 'none' }} aria-hidden />;
}

function nameOf(attachment: Attachment): string {
  return attachment.kind === 'link' ? attachment.url : attachment.name;
}

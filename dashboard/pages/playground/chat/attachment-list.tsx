import { CloseButton, Text } from '@mantine/core';
import { IconFileText, IconFileTypePdf } from '@tabler/icons-react';
import { dataUrl } from '../../../api/chat-formats/fields.ts';
import type { Attachment } from '../../../api/chat-formats/types.ts';
import classes from './chat.module.css';

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
              {attachment.kind === 'pdf' ? (
                <IconFileTypePdf size={18} aria-hidden />
              ) : (
                <IconFileText size={18} aria-hidden />
              )}
              <Text span size="sm" truncate>
                {attachment.name}
              </Text>
            </>
          )}
          {onRemove && (
            <CloseButton
              size="sm"
              aria-label={`Remove ${attachment.name}`}
              onClick={() => onRemove(attachment)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

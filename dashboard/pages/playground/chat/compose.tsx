// The one field for the next question, with its files.
import { ActionIcon, Box, Button, FileButton, Group, Text, Textarea, Tooltip } from '@mantine/core';
import { IconPaperclip, IconPlayerStopFilled, IconSend2 } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import type { Attachment } from '../../../api/chat-formats/types.ts';
import { isEnter } from '../../../parts/is-enter.ts';
import { showError } from '../../../parts/notify.ts';
import { AttachmentList } from '../../../parts/messages/attachment-list.tsx';
import { acceptedFiles, readAttachments } from './attachments.ts';
import classes from './chat.module.css';

type Props = {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly attachments: readonly Attachment[];
  readonly setAttachments: (attachments: readonly Attachment[]) => void;
  /** Why the question cannot be sent; null: it can. */
  readonly problem: string | null;
  readonly isReady: boolean;
  readonly isRunning: boolean;
  readonly onSend: () => void;
  readonly onStop: () => void;
  /** More buttons. */
  readonly children: ReactNode;
};

export function Compose(props: Props) {
  const { text, setText, attachments, setAttachments, problem, isReady, isRunning, children } =
    props;
  const [isOver, setOver] = useState(false);
  const add = async (files: readonly File[]) => {
    if (files.length === 0) return;
    try {
      setAttachments([...attachments, ...(await readAttachments(files, attachments))]);
    } catch (thrown) {
      showError(thrown);
    }
  };
  return (
    <Box
      component="form"
      className={classes.compose}
      data-over={isOver || undefined}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) props.onSend();
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(false);
        void add([...event.dataTransfer.files]);
      }}
    >
      <AttachmentList
        attachments={attachments}
        onRemove={(removed) => setAttachments(attachments.filter((each) => each !== removed))}
      />
      <Textarea
        aria-label="Message"
        placeholder="Write a message, or paste or drop files"
        autosize
        minRows={2}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          if (files.length === 0) return;
          event.preventDefault();
          void add(files);
        }}
        onKeyDown={(event) => {
          if (!isEnter(event) || event.shiftKey) return;
          event.preventDefault();
          if (isReady) props.onSend();
        }}
      />
      {problem !== null && (
        <Text size="sm" c="red" mt={4} role="alert">
          {problem}
        </Text>
      )}
      <Group justify="space-between" mt="xs" gap="xs">
        <Group gap={4}>
          <FileButton onChange={(files) => void add(files)} accept={acceptedFiles} multiple>
            {(button) => (
              <Tooltip label="Add images, PDFs or text files">
                <ActionIcon {...button} size="lg" aria-label="Add files">
                  <IconPaperclip size={18} stroke={1.6} aria-hidden />
                </ActionIcon>
              </Tooltip>
            )}
          </FileButton>
          {children}
        </Group>
        {isRunning ? (
          <Button
            color="red"
            variant="light"
            leftSection={<IconPlayerStopFilled size={16} aria-hidden />}
            onClick={props.onStop}
          >
            Stop
          </Button>
        ) : (
          <Button
            type="submit"
            disabled={!isReady}
            leftSection={<IconSend2 size={16} aria-hidden />}
          >
            Send
          </Button>
        )}
      </Group>
    </Box>
  );
}

// The wire formats that clients speak.
import { chat } from './chat.ts';
import { gemini } from './gemini.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';
import type { ChatFormat, FormatName } from './types.ts';

export const chatFormats: Readonly<Record<FormatName, ChatFormat>> = {
  responses,
  chat,
  messages,
  gemini,
};

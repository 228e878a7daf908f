// The simulated hosts, by wire format.
import type { UpstreamFormatName } from '../../terms/format-name.ts';
import { chat } from './chat.ts';
import { converse } from './converse.ts';
import { gemini } from './gemini.ts';
import type { Host } from './host.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

export const hosts: Readonly<Record<UpstreamFormatName, Host>> = {
  responses,
  chat,
  messages,
  gemini,
  converse,
};

// All wire formats by name. A new one needs a folder and a line here.
import type { ClientFormatName, UpstreamFormatName } from '../canonical/format-name.ts';
import { chat } from './chat/index.ts';
import type { ClientFormat, UpstreamFormat } from './format.ts';
import { gemini } from './gemini/index.ts';
import { messages } from './messages/index.ts';
import { responses } from './responses/index.ts';

export const clientFormats: Readonly<Record<ClientFormatName, ClientFormat>> = {
  responses,
  chat,
  messages,
};

export const upstreamFormats: Readonly<Record<UpstreamFormatName, UpstreamFormat>> = {
  responses,
  chat,
  messages,
  gemini,
};

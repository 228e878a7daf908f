// The wire formats by name: a new one is a folder and a line here.
import type { ClientFormatName, UpstreamFormatName } from '../canonical/format-name.ts';
import { chat } from './chat/index.ts';
import type { ClientFormat, UpstreamFormat } from './format.ts';
import { messages } from './messages/index.ts';
import { responses } from './responses/index.ts';

export const clientFormats: Readonly<Record<ClientFormatName, ClientFormat>> = { responses, chat, messages };

/** Gemini's joins when its provider does. */
export const upstreamFormats: Readonly<Partial<Record<UpstreamFormatName, UpstreamFormat>>> = { responses, chat, messages };

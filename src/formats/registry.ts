// The code of each wire format. terms/format-name.ts lists the names; the compiler names a format
// that is missing here.
import type { ClientFormatName, UpstreamFormatName } from '../terms/format-name.ts';
import { hostedTools as chatSearch } from './chat/hosted-tools.ts';
import { chat } from './chat/index.ts';
import { converse } from './converse/index.ts';
import type { ClientFormat, UpstreamFormat } from './format.ts';
import { hostedTools as geminiSearch } from './gemini/hosted-tools.ts';
import { gemini } from './gemini/index.ts';
import type { HostedTools } from './hosted-tools.ts';
import { hostedTools as messagesSearch } from './messages/hosted-tools.ts';
import { messages } from './messages/index.ts';
import { hostedTools as responsesSearch } from './responses/hosted-tools.ts';
import { chatForClients } from './responses-at-chat.ts';
import { responses } from './responses/index.ts';

export const clientFormats: Readonly<Record<ClientFormatName, ClientFormat>> = {
  responses,
  chat: chatForClients,
  messages,
  gemini,
};

export const upstreamFormats: Readonly<Record<UpstreamFormatName, UpstreamFormat>> = {
  responses,
  chat,
  messages,
  gemini,
  converse,
};

/** Paths that only Google's clients ask for. */
export function isGooglePath(path: string): boolean {
  return /^(?:\/upload)?\/v1(?:(?:alpha|beta1?)\/|\/(?:projects|publishers)\/)/.test(path);
}

/**
 * Returns the format of errors at a path: Anthropic's below `/v1/messages`, Chat's and Google's at their
 * addresses, and Responses' elsewhere.
 */
export function clientFormatAt(path: string): ClientFormat {
  if (isGooglePath(path)) return clientFormats.gemini;
  if (/^\/v1\/messages(?:[/?]|$)/.test(path)) return clientFormats.messages;
  if (/^\/v1\/(?:chat\/)?completions(?:[/?]|$)/.test(path)) return clientFormats.chat;
  return clientFormats.responses;
}

/** How clients ask for a search that the gateway runs. */
export const hostedTools: Readonly<Record<ClientFormatName, HostedTools>> = {
  responses: responsesSearch,
  chat: chatSearch,
  messages: messagesSearch,
  gemini: geminiSearch,
};

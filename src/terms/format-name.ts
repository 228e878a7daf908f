// The names of the wire formats. Clients speak three; upstreams speak these and Gemini's.

export const clientFormatNames = ['responses', 'chat', 'messages'] as const;
export type ClientFormatName = (typeof clientFormatNames)[number];
export type UpstreamFormatName = ClientFormatName | 'gemini';

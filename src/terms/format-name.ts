// The names of the wire formats. Clients speak three; upstreams speak these and Gemini's.

const clientFormatNames = ['responses', 'chat', 'messages'] as const;
export type ClientFormatName = (typeof clientFormatNames)[number];
export const upstreamFormatNames = [...clientFormatNames, 'gemini'] as const;
export type UpstreamFormatName = (typeof upstreamFormatNames)[number];

// The names of the wire formats. Clients speak three; upstreams speak these, Gemini's and Bedrock's
// Converse.

const clientFormatNames = ['responses', 'chat', 'messages'] as const;
export type ClientFormatName = (typeof clientFormatNames)[number];
export const upstreamFormatNames = [...clientFormatNames, 'gemini', 'converse'] as const;
export type UpstreamFormatName = (typeof upstreamFormatNames)[number];

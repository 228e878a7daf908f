// The names of the wire formats. Clients speak four; upstreams speak these and Bedrock's Converse.

const clientFormatNames = ['responses', 'chat', 'messages', 'gemini'] as const;
export type ClientFormatName = (typeof clientFormatNames)[number];
export const upstreamFormatNames = [...clientFormatNames, 'converse'] as const;
export type UpstreamFormatName = (typeof upstreamFormatNames)[number];

// The names of the wire formats. Clients speak three; upstreams speak these and Gemini's.

export type ClientFormatName = 'responses' | 'chat' | 'messages';
export type UpstreamFormatName = ClientFormatName | 'gemini';

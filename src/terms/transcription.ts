/** What is made of audio, by the end of its path. A translation is in English. */
export type TranscriptionTask = 'transcriptions' | 'translations';

// The verdict on each field of a generateContent request on the straight path, at any depth;
// formats/field-verdicts.ts explains the tables. The official types are those of `@google/genai`, whose
// `config` the SDK spreads over the body and `generationConfig`.
import {
  ofTool,
  pass,
  reasons,
  unavailable,
  verdicts,
  type PartKinds,
  type VerdictTable,
} from '../field-verdicts.ts';

const stored = unavailable(`${reasons.stored}, which this gateway does not offer`);
const unpriced = unavailable(reasons.unpriced);

const isPlainModality = (value: unknown) =>
  Array.isArray(value) && value.every((word) => /^(?:text|image)$/i.test(String(word)));

/** Left out: calls come whole. */
export const streamedArguments = 'toolConfig.functionCallingConfig.streamFunctionCallArguments';

export const verdictTable: VerdictTable = {
  request: {
    ...verdicts({ rule: 'set' }, 'model stream'),
    ...ofTool('tools'),
    ...pass('contents systemInstruction toolConfig generationConfig safetySettings serviceTier'),
    cachedContent: stored,
    /** Tags of the account's own records. */
    labels: { rule: 'drop' },
    /** Google would log the request for the operator's project. */
    store: { rule: 'drop' },
    modelArmorConfig: unavailable('it names a template of the operator'),
    continuationToken: stored,
    generationOutputConfig: stored,
  },
  anywhere: verdicts(
    { rule: 'own' },
    'args response parameters parametersJsonSchema responseSchema responseJsonSchema schema partMetadata labels',
  ),
  systemInstruction: pass('role parts'),
  contents: pass('role parts'),
  parts: {
    ...pass(
      'text thought thoughtSignature inlineData fileData functionCall functionResponse executableCode codeExecutionResult',
    ),
    ...pass('videoMetadata mediaResolution partMetadata toolCall toolResponse'),
    ...verdicts(unpriced, 'mediaProcessing speechMetadata audioTranscription'),
  },
  inlineData: pass('mimeType data displayName'),
  fileData: pass('mimeType fileUri displayName'),
  functionCall: {
    ...pass('id name args'),
    ...verdicts(unavailable('calls come back whole'), 'partialArgs willContinue'),
  },
  functionResponse: {
    ...pass('id name response parts scheduling'),
    willContinue: unavailable('results are sent whole'),
  },
  /** Calls of Google's own tools in an earlier answer, and their results. */
  toolCall: pass('id toolType args'),
  toolResponse: pass('id toolType response'),
  executableCode: pass('code language id'),
  codeExecutionResult: pass('outcome output id'),
  videoMetadata: pass('startOffset endOffset fps'),
  mediaResolution: {
    // The hold knows the tokens of each word.
    level: unavailable('send the name of a level', (value) => typeof value === 'string'),
    numTokens: unavailable('send a `level`'),
  },
  tools: {
    ...ofTool('functionDeclarations googleSearch googleSearchRetrieval'),
    ...ofTool(
      'codeExecution urlContext googleMaps fileSearch computerUse enterpriseWebSearch retrieval mcpServers exaAiSearch parallelAiSearch',
    ),
  },
  functionDeclarations: pass(
    'name description parameters parametersJsonSchema behavior response responseJsonSchema',
  ),
  googleSearch: ofTool('timeRangeFilter excludeDomains searchTypes blockingConfidence'),
  timeRangeFilter: ofTool('startTime endTime'),
  searchTypes: { ...ofTool('webSearch'), imageSearch: unpriced },
  toolConfig: pass('functionCallingConfig retrievalConfig includeServerSideToolInvocations'),
  functionCallingConfig: {
    ...pass('mode allowedFunctionNames'),
    streamFunctionCallArguments: { rule: 'drop' },
  },
  retrievalConfig: pass('latLng languageCode'),
  latLng: pass('latitude longitude'),
  generationConfig: {
    ...verdicts({ rule: 'set' }, 'maxOutputTokens'),
    ...pass(
      'temperature topP topK candidateCount stopSequences responseMimeType responseSchema responseJsonSchema presencePenalty',
    ),
    ...pass(
      'frequencyPenalty seed responseLogprobs logprobs thinkingConfig mediaResolution imageConfig audioTimestamp',
    ),
    ...pass('enableEnhancedCivicAnswers'),
    responseModalities: unavailable(
      'sound has a price of its own, which no model here has',
      isPlainModality,
    ),
    speechConfig: unpriced,
    ...verdicts(
      unavailable('another model at another price could answer'),
      'routingConfig modelSelectionConfig modelConfig',
    ),
    ...verdicts(
      unavailable('it is for sessions of sound'),
      'enableAffectiveDialog audioTranscriptionConfig translationConfig',
    ),
    // `text` in it is read before.
    responseFormat: unavailable('images have `imageConfig`; sound and film have no price here'),
  },
  thinkingConfig: pass('includeThoughts thinkingBudget thinkingLevel'),
  imageConfig: pass(
    'aspectRatio imageSize personGeneration prominentPeople imageOutputOptions outputMimeType outputCompressionQuality',
  ),
  imageOutputOptions: pass('mimeType compressionQuality'),
  safetySettings: pass('category threshold method'),
};

/** Fields that hold the client's own data. */
export const ownFields: ReadonlySet<string> = new Set(Object.keys(verdictTable.anywhere));

/** Parts have no `type`. */
export const partKinds: PartKinds = {};

// A stream of Chat written as a completion: nothing of the text is lost, and tokens stand where they say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextFor, dataEvent } from '../../../tests/support/formats/chat.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import fc from '../../../tests/support/property.ts';
import { completions } from './completions.ts';

const prompt = 'Once “upon”';
const limits = { chatMaxTokens: null };

type Choice = {
  readonly text: string;
  readonly index: number;
  readonly logprobs: { readonly tokens: string[]; readonly text_offset: number[] } | null;
};

const pieces = fc.array(fc.string({ unit: 'grapheme', maxLength: 5 }), { maxLength: 8 });

test('the texts of all choices are whole, and each token stands at its place', () => {
  fc.assert(
    fc.property(fc.array(pieces, { minLength: 1, maxLength: 3 }), fc.boolean(), (texts, echo) => {
      const body = { model: 'm', prompt, n: texts.length, echo, stream: true };
      const request = completions.parseRequest(body, limits);
      const pipe = completions.relay.relayStream({ ...contextFor(), request });
      let frames = '';
      const send = (index: number, delta: object, more: object = {}) =>
        (frames += pipe.push(
          dataEvent({ choices: [{ index, delta, finish_reason: null, ...more }] }),
        ));
      texts.forEach((_, index) => send(index, { role: 'assistant', content: '' }));
      for (let at = 0; at < 8; at++)
        texts.forEach((text, index) => {
          const token = text[at];
          if (token === undefined) return;
          send(index, { content: token }, { logprobs: { content: [{ token, logprob: -1 }] } });
        });
      texts.forEach((_, index) => send(index, {}, { finish_reason: 'stop' }));
      frames += pipe.end() + pipe.close(0);
      assert.equal(pipe.progress.status, 'finished');
      const choices = parseSse(frames).flatMap(({ data }) =>
        data === '[DONE]' ? [] : (JSON.parse(data) as { choices: Choice[] }).choices,
      );
      for (const [index, text] of texts.entries()) {
        const own = choices.filter((choice) => choice.index === index);
        const said = own.map((choice) => choice.text).join('');
        assert.equal(said, (echo ? prompt : '') + text.join(''));
        const whole = prompt + text.join('');
        for (const { logprobs } of own)
          for (const [at, token] of (logprobs?.tokens ?? []).entries())
            assert.ok(whole.startsWith(token, logprobs!.text_offset[at]));
      }
    }),
  );
});

test('a host’s own completion comes through, streamed and whole, with what it adds', () => {
  fc.assert(
    fc.property(fc.array(pieces, { minLength: 1, maxLength: 3 }), fc.boolean(), (texts, echo) => {
      const prompts = texts.map((_, index) => `${prompt} ${index}`);
      const body = { model: 'm', prompt: prompts, echo, stream: true };
      const context = { ...contextFor(), request: completions.parseRequest(body, limits) };
      const choiceOf = (index: number, text: string, reason: string | null) => ({
        text,
        index,
        logprobs: { tokens: [text] },
        finish_reason: reason,
        stop_reason: 7,
      });
      const pipe = completions.relay.relayStream(context);
      let frames = '';
      for (const [index, text] of texts.entries())
        for (const piece of [...text, ''])
          frames += pipe.push(
            dataEvent({ choices: [choiceOf(index, piece, piece === '' ? 'stop' : null)] }),
          );
      frames += pipe.end() + pipe.close(0);
      const streamed = parseSse(frames).flatMap(({ data }) =>
        data === '[DONE]' ? [] : (JSON.parse(data) as { choices: Choice[] }).choices,
      );
      const wholes = texts.map((text, index) => choiceOf(index, text.join(''), 'stop'));
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const { body: whole } = completions.relay.relayAnswer({ choices: wholes, usage }, context);
      for (const [index, text] of texts.entries()) {
        const wanted = (echo ? prompts[index]! : '') + text.join('');
        const own = streamed.filter((choice) => choice.index === index);
        assert.equal(own.map((choice) => choice.text).join(''), wanted);
        assert.deepEqual((whole['choices'] as unknown[])[index], {
          ...wholes[index],
          text: wanted,
        });
        // The end may have become a chunk of its own.
        assert.ok(own.some((choice) => 'stop_reason' in choice && choice.logprobs !== null));
      }
    }),
  );
});

test('what it writes is read back for traces', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      const request = completions.parseRequest({ model: 'm', prompt }, limits);
      const chat = { choices: [{ index: 0, message: { content: text }, finish_reason: 'length' }] };
      const { body } = completions.relay.relayAnswer(chat, { ...contextFor(), request });
      const { content, stop } = completions.answerReader!.readAnswer(body);
      assert.deepEqual([content, stop.reason], [[{ type: 'text', text }], 'length']);
    }),
  );
});

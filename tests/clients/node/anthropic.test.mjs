// The official `@anthropic-ai/sdk` package: messages, counting, models, errors.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { z } from 'zod';

import { PNG, all, startGateway } from './gateway.mjs';

const TEXT = 'Zoë, 北京 👩‍🔬';
const PHRASES = { english: 'Hello, Zoë!', chinese: '你好，世界', emoji: '👨‍👩‍👧‍👦 and 🏳️‍🌈' };
const MODELS = ['auto', 'gpt', 'edge'];
const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const Contact = z.object({ name: z.string(), plans: z.array(z.string()), demo: z.boolean() });

const asked = (text, more = {}) => ({
  model: 'auto',
  max_tokens: 1024,
  messages: [{ role: 'user', content: text }],
  ...more,
});
const textOf = (message) => message.content.map((block) => block.text ?? '').join('');

let gateway;
let client;

before(async () => {
  gateway = await startGateway();
  client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
});
after(() => gateway?.stop());

describe('messages', () => {
  for (const model of MODELS) {
    for (const [name, text] of Object.entries(PHRASES)) {
      test(`whole: ${name} from ${model}`, async () => {
        const message = await client.messages.create(asked(`Say: ${text}`, { model }));
        assert.equal(textOf(message), text);
        assert.equal(message.stop_reason, 'end_turn');
        assert.ok(message.usage.input_tokens > 0);
      });

      test(`streamed: ${name} from ${model}`, async () => {
        const events = await all(
          await client.messages.create(asked(`Byte by byte: ${text}`, { model, stream: true })),
        );
        assert.equal(events[0].type, 'message_start');
        assert.equal(events.at(-1).type, 'message_stop');
        const deltas = events.filter((event) => event.type === 'content_block_delta');
        assert.equal(deltas.map((event) => event.delta.text).join(''), text);
        assert.equal(events.at(-2).delta.stop_reason, 'end_turn');
      });
    }
  }

  test('the stream helper', async () => {
    let said = '';
    const stream = client.messages
      .stream(asked(`Say: ${TEXT}`))
      .on('text', (delta) => (said += delta));
    const final = await stream.finalMessage();
    assert.equal(said, TEXT);
    assert.equal(textOf(final), TEXT);
    assert.ok(final.usage.output_tokens > 0);
  });

  test('a system prompt', async () => {
    const message = await client.messages.create(
      asked('What are your instructions?', { system: 'Kurz 简短' }),
    );
    assert.equal(textOf(message), 'Kurz 简短');
  });

  for (const order of ['', 'In turns: ']) {
    test(`a streamed tool loop ${order}`, async () => {
      const more = { tools: [WEATHER], model: 'gpt' };
      const first = asked(`${order}Compare Paris and 北京`, more);
      const message = await client.messages.stream(first).finalMessage();
      assert.equal(message.stop_reason, 'tool_use');
      assert.deepEqual(
        message.content.map((block) => block.input.city),
        ['Paris', '北京'],
      );
      const results = message.content.map((block) => ({
        type: 'tool_result',
        tool_use_id: block.id,
        content: `sunny in ${block.input.city}`,
      }));
      const messages = [
        ...first.messages,
        { role: 'assistant', content: message.content },
        { role: 'user', content: results },
      ];
      const answer = await client.messages.create({ ...first, messages });
      assert.equal(textOf(answer), 'The tools said: sunny in Paris; sunny in 北京');
    });
  }

  test('the tool runner', async () => {
    const tool = betaZodTool({
      name: 'get_weather',
      description: 'The weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      run: ({ city }) => `sunny in ${city}`,
    });
    const message = await client.beta.messages.toolRunner(
      asked('Paris and 北京', { tools: [tool] }),
    );
    assert.equal(textOf(message), 'The tools said: sunny in Paris; sunny in 北京');
  });

  test('parse with zod', async () => {
    const message = await client.messages.parse(
      asked('Extract the contact.', { output_config: { format: zodOutputFormat(Contact) } }),
    );
    assert.deepEqual(message.parsed_output, { name: TEXT, plans: [TEXT], demo: true });
  });

  test('a picture', async () => {
    const digest = createHash('sha256').update(Buffer.from(PNG, 'base64')).digest('hex');
    const source = { type: 'base64', media_type: 'image/png', data: PNG };
    const message = await client.messages.create(
      asked([{ type: 'image', source }, { type: 'text', text: 'What is this?' }]),
    );
    assert.equal(textOf(message), `image/png ${digest}`);
  });

  test('counting', async () => {
    const { model, messages } = asked('数一数 count me');
    const few = await client.messages.countTokens({ model, messages });
    const more = await client.messages.countTokens({ model, messages, tools: [WEATHER] });
    assert.ok(0 < few.input_tokens && few.input_tokens < more.input_tokens);
  });

  test('models', async () => {
    const names = (await all(client.models.list())).map((model) => model.id);
    assert.ok(names.includes('auto'));
    assert.equal((await client.models.retrieve('gpt')).id, 'gpt');
  });
});

describe('errors', () => {
  const raises = async (promise, kind, type) => {
    await assert.rejects(promise, (error) => {
      assert.ok(error instanceof kind, `${error}`);
      assert.equal(error.error.error.type, type);
      return true;
    });
  };

  test('a wrong key', async () => {
    const stranger = client.withOptions({ apiKey: 'sk-wrong-key' });
    const hello = stranger.messages.create(asked('Hi'));
    await raises(hello, Anthropic.AuthenticationError, 'authentication_error');
  });

  test('an unknown model', async () => {
    const hello = client.messages.create(asked('Hi', { model: 'nobody' }));
    await raises(hello, Anthropic.NotFoundError, 'not_found_error');
  });

  test('a parameter of a wrong form', async () => {
    const hello = client.messages.create(asked('Hi', { temperature: 'hot' }));
    await raises(hello, Anthropic.BadRequestError, 'invalid_request_error');
  });

  test('a rate limit', async () => {
    const hello = client.messages.create(asked('Hi', { model: gateway.busy() }));
    await raises(hello, Anthropic.RateLimitError, 'rate_limit_error');
  });

  for (const prompt of ['Break off', 'End early']) {
    test(`a stream that is broken (${prompt})`, async () => {
      const events = [];
      const read = async () => {
        const more = { model: 'gpt', stream: true };
        for await (const event of await client.messages.create(asked(prompt, more)))
          events.push(event.type);
      };
      await assert.rejects(read, Anthropic.APIError);
      assert.ok(events.includes('content_block_delta'));
      assert.ok(!events.includes('message_stop'));
      await assert.rejects(client.messages.stream(asked(prompt, { model: 'gpt' })).finalMessage());
    });
  }
});

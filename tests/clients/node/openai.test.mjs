// The official `openai` package: chat, responses, completions, embeddings, models, errors.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { toResponseInputItems } from 'openai/lib/responses/ResponseInputItems';
import { z } from 'zod';

import { PNG, all, startGateway } from './gateway.mjs';

const TEXT = 'Zoë, 北京 👩‍🔬';
const PHRASES = { english: 'Hello, Zoë!', chinese: '你好，世界', emoji: '👨‍👩‍👧‍👦 and 🏳️‍🌈' };
const MODELS = ['auto', 'gpt', 'edge'];
const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const CHAT_TOOL = {
  type: 'function',
  function: { name: 'get_weather', description: 'The weather of a city.', parameters: PARAMETERS },
};
const RESPONSES_TOOL = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: PARAMETERS,
  strict: true,
};
const Team = z.object({
  title: z.string(),
  people: z.array(z.object({ name: z.string(), age: z.number() })),
  remote: z.boolean(),
});
const TEAM = { title: TEXT, people: [{ name: TEXT, age: 2.5 }], remote: true };
const DIGEST = createHash('sha256').update(Buffer.from(PNG, 'base64')).digest('hex');

const user = (content) => [{ role: 'user', content }];
const city = (call) => JSON.parse((call.function ?? call).arguments).city;

let gateway;
let client;

before(async () => {
  gateway = await startGateway();
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
after(() => gateway?.stop());

describe('chat completions', () => {
  for (const model of MODELS) {
    for (const [name, text] of Object.entries(PHRASES)) {
      test(`whole: ${name} from ${model}`, async () => {
        const answer = await client.chat.completions.create({ model, messages: user(`Say: ${text}`) });
        assert.equal(answer.choices[0].message.content, text);
        assert.equal(answer.choices[0].finish_reason, 'stop');
        assert.ok(answer.usage.total_tokens > 0);
        assert.ok(answer._request_id);
      });

      test(`stream with usage: ${name} from ${model}`, async () => {
        const stream = await client.chat.completions.create({
          model,
          messages: user(`Byte by byte: ${text}`),
          stream: true,
          stream_options: { include_usage: true },
        });
        const chunks = await all(stream);
        const last = chunks.pop();
        assert.equal(chunks.map((c) => c.choices[0].delta.content ?? '').join(''), text);
        assert.equal(chunks.at(-1).choices[0].finish_reason, 'stop');
        assert.deepEqual(last.choices, []);
        assert.ok(last.usage.completion_tokens > 0);
      });
    }
  }

  test('the stream helper', async () => {
    const stream = client.chat.completions.stream({ model: 'auto', messages: user(`Say: ${TEXT}`) });
    let said = '';
    stream.on('content', (delta) => (said += delta));
    const final = await stream.finalChatCompletion();
    assert.equal(said, TEXT);
    assert.equal(final.choices[0].message.content, TEXT);
  });

  test('a stream that the caller leaves', async () => {
    const stream = await client.chat.completions.create({
      model: 'gpt',
      messages: user(`Say: ${'long '.repeat(200)}`),
      stream: true,
    });
    for await (const chunk of stream) {
      if (chunk.choices[0].delta.content) break;
    }
    assert.ok(stream.controller.signal.aborted);
  });

  test('a tool loop with parallel calls', async () => {
    const messages = user('Compare Paris and 北京');
    const asked = { model: 'auto', tools: [CHAT_TOOL] };
    const first = await client.chat.completions.create({ ...asked, messages });
    const { message, finish_reason } = first.choices[0];
    assert.equal(finish_reason, 'tool_calls');
    assert.deepEqual(message.tool_calls.map(city), ['Paris', '北京']);
    messages.push(message);
    for (const call of message.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: `sunny in ${city(call)}` });
    }
    const second = await client.chat.completions.create({ ...asked, messages });
    assert.equal(second.choices[0].message.content, 'The tools said: sunny in Paris; sunny in 北京');
  });

  for (const stream of [false, true]) {
    test(`runTools, ${stream ? 'streamed' : 'whole'}`, async () => {
      const tool = {
        type: 'function',
        function: {
          ...CHAT_TOOL.function,
          parse: JSON.parse,
          function: ({ city }) => `sunny in ${city}`,
        },
      };
      const runner = client.chat.completions.runTools({
        model: 'auto',
        messages: user('Compare Zürich and 北京'),
        tools: [tool],
        stream,
      });
      assert.equal(await runner.finalContent(), 'The tools said: sunny in Zürich; sunny in 北京');
    });
  }

  test('parse with zod', async () => {
    const answer = await client.chat.completions.parse({
      model: 'auto',
      messages: user('Invent a team.'),
      response_format: zodResponseFormat(Team, 'team'),
    });
    assert.deepEqual(answer.choices[0].message.parsed, TEAM);
  });

  test('a picture', async () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
    ];
    const answer = await client.chat.completions.create({ model: 'auto', messages: user(content) });
    assert.equal(answer.choices[0].message.content, `image/png ${DIGEST}`);
  });
});

describe('responses', () => {
  for (const model of MODELS) {
    for (const [name, text] of Object.entries(PHRASES)) {
      test(`whole and streamed: ${name} from ${model}`, async () => {
        const response = await client.responses.create({ model, input: `Say: ${text}` });
        assert.equal(response.output_text, text);
        assert.equal(response.status, 'completed');
        const stream = await client.responses.create({ model, input: `Say: ${text}`, stream: true });
        const events = await all(stream);
        assert.equal(events[0].type, 'response.created');
        assert.equal(events.at(-1).type, 'response.completed');
        const deltas = events.filter((e) => e.type === 'response.output_text.delta');
        assert.equal(deltas.map((e) => e.delta).join(''), text);
      });
    }
  }

  test('the stream helper', async () => {
    const stream = client.responses.stream({ model: 'auto', input: `Say: ${TEXT}` });
    let said = '';
    stream.on('response.output_text.delta', (event) => (said += event.delta));
    const final = await stream.finalResponse();
    assert.equal(said, TEXT);
    assert.equal(final.output_text, TEXT);
  });

  test('previous_response_id', async () => {
    const first = await client.responses.create({ model: 'auto', input: 'Remember the door.' });
    const second = await client.responses.create({
      model: 'auto',
      input: 'What did I say first?',
      previous_response_id: first.id,
    });
    assert.equal(second.output_text, 'Remember the door.');
  });

  test('a tool loop with parallel calls, streamed', async () => {
    const input = user('In turns: Compare Paris and 北京');
    const asked = { model: 'auto', tools: [RESPONSES_TOOL], store: false };
    const first = await client.responses.stream({ ...asked, input }).finalResponse();
    const calls = first.output.filter((item) => item.type === 'function_call');
    assert.deepEqual(calls.map(city), ['Paris', '北京']);
    input.push(...toResponseInputItems(first.output));
    for (const call of calls) {
      const output = `sunny in ${city(call)}`;
      input.push({ type: 'function_call_output', call_id: call.call_id, output });
    }
    const second = await client.responses.create({ ...asked, input });
    assert.equal(second.output_text, 'The tools said: sunny in Paris; sunny in 北京');
  });

  test('parse with zod', async () => {
    const response = await client.responses.parse({
      model: 'auto',
      input: 'Invent a team.',
      text: { format: zodTextFormat(Team, 'team') },
    });
    assert.deepEqual(response.output_parsed, TEAM);
  });

  test('what parse gave goes back as input', async () => {
    const input = user('Invent a team.');
    const format = zodTextFormat(Team, 'team');
    const parsed = await client.responses.parse({ model: 'auto', input, text: { format } });
    input.push(...toResponseInputItems(parsed.output), ...user('What did I say first?'));
    const second = await client.responses.create({ model: 'auto', input });
    assert.equal(second.output_text, 'Invent a team.');
  });

  test('a picture', async () => {
    const response = await client.responses.create({
      model: 'auto',
      input: user([
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
      ]),
    });
    assert.equal(response.output_text, `image/png ${DIGEST}`);
  });
});

describe('the rest', () => {
  test('models', async () => {
    const names = (await all(client.models.list())).map((model) => model.id);
    assert.equal(names[0], 'auto');
    assert.ok(names.includes('gpt'));
    assert.equal((await client.models.retrieve('gpt')).id, 'gpt');
  });

  test('completions', async () => {
    const asked = { model: 'auto', prompt: `Say: ${TEXT}` };
    const answer = await client.completions.create(asked);
    assert.equal(answer.choices[0].text, TEXT);
    const chunks = await all(await client.completions.create({ ...asked, stream: true }));
    assert.equal(chunks.map((chunk) => chunk.choices[0].text).join(''), TEXT);
  });

  for (const model of ['auto', 'vectors']) {
    test(`embeddings of ${model}`, async () => {
      const asked = { model, input: ['one', 'two', 'one'] };
      const decoded = (await client.embeddings.create(asked)).data.map((row) => row.embedding);
      const plain = (await client.embeddings.create({ ...asked, encoding_format: 'float' })).data;
      assert.deepEqual(decoded[0], decoded[2]);
      assert.notDeepEqual(decoded[0], decoded[1]);
      decoded[1].forEach((value, i) => assert.ok(Math.abs(value - plain[1].embedding[i]) < 1e-6));
    });
  }
});

describe('errors', () => {
  const ask = {
    chat: (text, more) => client.chat.completions.create({ messages: user(text), ...more }),
    completions: (text, more) => client.completions.create({ prompt: text, ...more }),
    responses: (text, more) => client.responses.create({ input: text, ...more }),
  };

  for (const [kind, create] of Object.entries(ask)) {
    test(`${kind}: a wrong key`, async () => {
      const stranger = client.withOptions({ apiKey: 'sk-wrong-key' });
      const asked = { model: 'auto', messages: user('Hi'), prompt: 'Hi', input: 'Hi' };
      const wrong = {
        chat: () => stranger.chat.completions.create(asked),
        completions: () => stranger.completions.create(asked),
        responses: () => stranger.responses.create(asked),
      };
      await assert.rejects(wrong[kind](), (error) => {
        assert.ok(error instanceof OpenAI.AuthenticationError);
        assert.equal(error.code, 'invalid_api_key');
        return true;
      });
    });

    test(`${kind}: an unknown model`, async () => {
      await assert.rejects(create('Hi', { model: 'nobody' }), (error) => {
        assert.ok(error instanceof OpenAI.NotFoundError);
        assert.equal(error.code, 'model_not_found');
        assert.equal(error.param, 'model');
        return true;
      });
    });

    test(`${kind}: a parameter of a wrong form`, async () => {
      await assert.rejects(create('Hi', { model: 'auto', temperature: 'hot' }), (error) => {
        assert.ok(error instanceof OpenAI.BadRequestError);
        assert.equal(error.param, 'temperature');
        return true;
      });
    });

    test(`${kind}: a rate limit`, async () => {
      await assert.rejects(create('Hi', { model: gateway.busy() }), (error) => {
        assert.ok(error instanceof OpenAI.RateLimitError);
        assert.equal(error.headers.get('retry-after'), '7');
        return true;
      });
    });
  }

  for (const prompt of ['Break off', 'End early']) {
    for (const kind of ['chat', 'completions']) {
      test(`${kind}: a stream that is broken (${prompt})`, async () => {
        const chunks = [];
        const read = async () => {
          const stream = await ask[kind](prompt, { model: 'gpt', stream: true });
          for await (const chunk of stream) chunks.push(chunk);
        };
        await assert.rejects(read, OpenAI.APIError);
        assert.ok(chunks.length > 0);
        assert.ok(chunks.every((chunk) => !chunk.choices[0].finish_reason));
      });
    }

    test(`responses: a stream that is broken (${prompt})`, async () => {
      await assert.rejects(client.responses.stream({ model: 'gpt', input: prompt }).finalResponse());
    });
  }
});

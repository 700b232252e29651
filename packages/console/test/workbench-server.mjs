// An MCP server with a tool for every kind of form and result that the console knows.
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAKklEQVR42mNQLL+PFTEQlPj//z8awimB0IFN8P///wyEjcKFcNqBy0YG6koAAEZXwAF0yN2tAAAAAElFTkSuQmCC'
const SILENCE = Buffer.from(
  'RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x08\0\0\0\0\0\0\0\0\0\0\0',
  'latin1',
).toString('base64')
const REPORT = `# Report

Some **bold** words, <img src=x onerror="document.title='owned'"> and [a link](https://example.org/x).
[Not a link](javascript:alert(1)) ![A picture](https://example.org/p.png)

| city | people |
|---|--:|
| Graz | 300000 |
`
const PEOPLE = ['Ada', 'Grace', 'Edsger'].map((name, at) => ({
  name,
  born: 1815 + at * 90,
  langs: ['a', 'b'],
}))
const form = {
  type: 'object',
  properties: {
    code: {
      type: 'string',
      pattern: '^[A-Z]{2}-\\d{3}$',
      description: 'Two letters, **three** digits',
      examples: ['AB-123'],
    },
    anything: { description: 'Whatever you like' },
    place: {
      anyOf: [
        { type: 'string' },
        { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
        { type: 'null' },
      ],
    },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    owner: {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      examples: [{ name: 'Grace' }],
    },
  },
  required: ['code', 'owner'],
}

const RESULTS = {
  report: () => ({ content: [{ type: 'text', text: REPORT }] }),
  people: () => ({
    content: [{ type: 'text', text: 'Three people.' }],
    structuredContent: { people: PEOPLE, total: 3 },
  }),
  media: () => ({
    content: [
      { type: 'text', text: 'Look and listen.' },
      { type: 'image', data: PICTURE, mimeType: 'image/png' },
      { type: 'audio', data: SILENCE, mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'https://example.org/manual', name: 'The manual' },
    ],
  }),
  nothing: () => ({ content: [{ type: 'text', text: 'done' }] }),
  form: args => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
}

/** Names, descriptions and schemas that nobody wants to meet. */
const HOSTILE = [
  {
    name: '\u202egnp.exe',
    description: `\u001b[31m<script>document.title='owned'</script>${'long '.repeat(20_000)}`,
  },
  { name: 'endless', inputSchema: { type: 'object', properties: { next: { $ref: '#' } } } },
  {
    name: 'wide',
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`p${at}`, { type: 'string' }])),
    },
  },
]

const tools = [
  ...[...Object.keys(RESULTS), 'ask', 'steps'].map(name => ({
    name,
    description: name === 'report' ? 'Writes a **report**.' : `The tool ${name}.`,
    inputSchema: name === 'form' ? form : { type: 'object', properties: {} },
    annotations: { readOnlyHint: name !== 'form', destructiveHint: name === 'form' },
  })),
  ...HOSTILE.map(tool => ({ description: '', inputSchema: { type: 'object' }, ...tool })),
]

const QUESTION = {
  message: 'Which colour?',
  requestedSchema: {
    type: 'object',
    properties: {
      colour: { type: 'string', title: 'Your colour', enum: ['red', 'blue'] },
      password: { type: 'string', title: 'Password' },
    },
    required: ['colour'],
  },
}

async function call({ name, arguments: args }, { signal, notify, elicitInput, _meta }) {
  if (name === 'ask') {
    const { content } = await elicitInput(QUESTION)
    return { content: [{ type: 'text', text: `It is ${content?.colour}.` }] }
  }
  if (name !== 'steps') return RESULTS[name]?.(args) ?? { content: [{ type: 'text', text: 'done' }] }
  const params = { progressToken: _meta?.progressToken, progress: 3, total: 4, message: 'Counting sheep' }
  await notify({ method: 'notifications/progress', params })
  await new Promise(resolve => signal.addEventListener('abort', resolve))
  return { content: [] }
}

serveStdio(() => {
  const server = new Server({ name: 'workbench', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => call(params, mcpReq))
  return server
})

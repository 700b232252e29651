// Attacks other than tool lists: expensive output schemas, long lists of resources and prompts, floods of elicitations.
// Keyed by the name of the attack, for hostile-stdio.mjs.
const numbers = length => Array.from({ length }, (_, n) => n)
const names = count => Object.fromEntries(numbers(count).map(n => [`n${n}`, n]))

/** `width` references per level, `depth` levels deep. */
function branching(width, depth) {
  const $defs = Object.fromEntries(
    numbers(depth).map(level => [
      `d${level}`,
      { anyOf: numbers(width).map(n => ({ $ref: `#/$defs/d${level + 1}`, title: `${n}` })) },
    ]),
  )
  $defs[`d${depth}`] = { type: 'object', properties: { leaf: { type: 'integer' } } }
  return { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs }
}

const OUTPUT_SCHEMAS = {
  'an outputSchema of 8^8 branches': branching(8, 8),
  'an outputSchema that compares 20,000 objects': {
    type: 'object',
    properties: { a: { type: 'array', uniqueItems: true } },
  },
  'an outputSchema of 5,000 patterns': {
    type: 'object',
    properties: Object.fromEntries(
      numbers(5_000).map(n => [`n${n}`, { type: 'string', pattern: `^(a|b${n})*$` }]),
    ),
  },
}
export const outputSchemaOf = attack => OUTPUT_SCHEMAS[attack]

const structured = structuredContent => ({ content: [], structuredContent })
const text = (type, more) => ({ type, ...more })

/** Results of calling `victim`. */
export const RESULTS = {
  'an outputSchema of 8^8 branches': () => structured({ a: { leaf: 'x' } }),
  'an outputSchema that compares 20,000 objects': () =>
    structured({ a: numbers(20_000).map(n => ({ n, deep: [[n]] })) }),
  'an outputSchema of 5,000 patterns': () => structured(names(5_000)),
  'structuredContent of 200,000 names': () => structured(names(200_000)),
  'structuredContent of 24,000 names': () => structured(names(24_000)),
  'structuredContent of 300,000 small texts': () => structured({ a: numbers(300_000).map(() => 'a') }),
  'structuredContent of 20,000 objects of 10 names': () =>
    structured({ a: numbers(20_000).map(() => names(10)) }),
  '50,000 resource links': () => ({
    content: numbers(50_000).map(n => text('resource_link', { uri: `file:///${n}`, name: `${n}` })),
  }),
  '50,000 texts': () => ({ content: numbers(50_000).map(n => text('text', { text: `line ${n}` })) }),
  '5 MB of lone surrogates': () => ({ content: [text('text', { text: '\ud800'.repeat(800_000) })] }),
  '5 MB of secrets': () => ({
    content: [text('text', { text: 'password: x token=y Bearer abcdefgh '.repeat(140_000) })],
  }),
  'an error of 5 MB': () => ({ isError: true, content: [text('text', { text: 'e'.repeat(5_000_000) })] }),
  '_meta of 24,000 names': () => ({ content: [], _meta: names(24_000) }),
}

const CAPABILITIES = { listChanged: true }
export const capabilities = {
  tools: CAPABILITIES,
  resources: CAPABILITIES,
  prompts: CAPABILITIES,
  logging: {},
}

const LISTED = {
  'resources/list': n => ({ uri: `file:///${n}`, name: `r${n}`, description: 'd'.repeat(50) }),
  'resources/templates/list': n => ({ uriTemplate: `file:///${n}/{a}{?b,c}`, name: `t${n}` }),
  'prompts/list': n => ({ name: `p${n}`, arguments: [{ name: 'a', required: true }] }),
}
const KEYS = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
}
const COUNTS = { '60,000 resources and prompts': 60_000, 'storms of resources and prompts': 2_000 }

/** The response to a list request other than `tools/list`. */
export function offersOf(method, attack) {
  const make = LISTED[method]
  return make && { [KEYS[method]]: numbers(COUNTS[attack] ?? 0).map(make) }
}

const line = message => JSON.stringify({ jsonrpc: '2.0', ...message })
const question = id => ({
  id,
  method: 'elicitation/create',
  params: {
    message: 'Who are you?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
  },
})

/** Lines sent over and over during a call to `victim`. */
export const STORMS = {
  '100,000 questions': n => line(question(`q${n}`)),
  '100,000 questions with one id': () => line(question('same')),
  '100,000 requests for roots and samples': n =>
    line(
      n % 2 === 0
        ? { id: `r${n}`, method: 'roots/list' }
        : { id: `s${n}`, method: 'sampling/createMessage', params: { messages: [], maxTokens: 10 } },
    ),
  'progress with messages of 10 kB': (n, token) =>
    line({
      method: 'notifications/progress',
      params: { progressToken: token, progress: n, message: 'm'.repeat(10_000) },
    }),
  'storms of resources and prompts': n =>
    line({ method: `notifications/${n % 2 ? 'prompts' : 'resources'}/list_changed` }),
}

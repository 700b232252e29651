interface Positive {
  reply: string
  thinking?: string
  question?: string
  calls: string
  args: object
}

interface Negative {
  why: string
  reply: string
  thinking?: string
  question?: string
}

const oslo = { location: 'Oslo' }
const json = '{"name": "get_weather", "arguments": {"location": "Oslo"}}'
const lamp = { device: 'kitchen lamp', action: 'on' }

const weather = (reply: string, args: object = oslo): Positive => ({ reply, calls: 'get_weather', args })
const time = (reply: string, args: object = {}): Positive => ({ reply, calls: 'get_time', args })
const light = (reply: string, args: object = lamp): Positive => ({ reply, calls: 'control_light', args })
const search = (reply: string, args: object): Positive => ({ reply, calls: 'search', args })
const math = (reply: string, args: object): Positive => ({ reply, calls: 'math_eval', args })
const thought = (thinking: string, reply = ''): Positive => ({
  reply,
  thinking,
  calls: 'get_weather',
  args: oslo,
})

/** As small models write their calls when their template, or their server, does not make calls of them. */
export const MUST_SALVAGE: Positive[] = [
  // Qwen and Hermes
  weather(`<tool_call>\n${json}\n</tool_call>`),
  weather(`<tool_call>${json}</tool_call>`),
  weather(`\n\n<tool_call>\n${json}\n</tool_call>\n`),
  weather(`<tool_call>\n${json}\n</tool_call><|im_end|>`),
  weather('<tool_call>\n{"arguments": {"location": "Oslo"}, "name": "get_weather"}\n</tool_call>'),
  weather(`<tool_call>\n{'name': 'get_weather', 'arguments': {'location': 'Oslo'}}\n</tool_call>`),
  weather('<tool_call>\n{"name": "get_weather", "arguments": "{\\"location\\": \\"Oslo\\"}"}\n</tool_call>'),
  weather('<tool_call>{"name": "get_weather", "arguments": {"location": "Oslo", "days": "3"}}</tool_call>', {
    ...oslo,
    days: 3,
  }),
  weather('<tool_call>{"name": "get_weather", "arguments": {"location": "Oslo", "unit": "c"}}</tool_call>', {
    ...oslo,
    unit: 'C',
  }),
  weather(`<tool_call>\n${json}\n</tool_call>\n<tool_call>\n${json}\n</tool_call>`),
  weather(`Let me check the weather.\n<tool_call>\n${json}\n</tool_call>`),
  weather(`I'll look up the weather in Oslo for you.\n\n<tool_call>\n${json}\n</tool_call>`),
  weather(`Sure! Let me get that.\n<tool_call>${json}</tool_call>`),
  weather(
    `<think>\nThe user asks about the weather, so maybe I should look.\n</think>\n\n<tool_call>\n${json}\n</tool_call>`,
  ),
  time('<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'),
  time('<tool_call>\n{"name": "get_time", "arguments": {"timezone": "Europe/Oslo"}}\n</tool_call>', {
    timezone: 'Europe/Oslo',
  }),
  light(
    '<tool_call>\n{"name": "control_light", "arguments": {"device": "kitchen lamp", "action": "on"}}\n</tool_call>',
  ),
  light(
    '<tool_call>{"name": "control_light", "arguments": {"device": "hall", "action": "dim", "level": "40"}}</tool_call>',
    { device: 'hall', action: 'dim', level: 40 },
  ),
  search('<tool_call>{"name":"search","arguments":{"query":"what does {} mean in python"}}</tool_call>', {
    query: 'what does {} mean in python',
  }),
  // Qwen coder
  weather(
    '<tool_call>\n<function=get_weather>\n<parameter=location>\nOslo\n</parameter>\n</function>\n</tool_call>',
  ),
  weather(
    '<function=get_weather>\n<parameter=location>Oslo</parameter>\n<parameter=days>2</parameter>\n</function>',
    { ...oslo, days: 2 },
  ),
  // Llama
  weather('<function=get_weather>{"location": "Oslo"}</function>'),
  weather('<|python_tag|>{"name": "get_weather", "parameters": {"location": "Oslo"}}<|eom_id|>'),
  weather('<|python_tag|>{"type": "function", "name": "get_weather", "parameters": {"location": "Oslo"}}'),
  weather('<|python_tag|>get_weather.call(location="Oslo")<|eom_id|>'),
  weather('<|python_tag|>get_weather(location="Oslo")'),
  weather('{"name": "get_weather", "parameters": {"location": "Oslo"}}'),
  weather('{"type": "function", "function": {"name": "get_weather", "parameters": {"location": "Oslo"}}}'),
  weather('{"name": "get_weather", "parameters": {"location": "Oslo", "days": "2"}}<|eot_id|>', {
    ...oslo,
    days: 2,
  }),
  time('{"name": "get_time", "parameters": {}}'),
  // Mistral
  weather('[TOOL_CALLS] [{"name": "get_weather", "arguments": {"location": "Oslo"}}]'),
  weather('[TOOL_CALLS][{"name": "get_weather", "arguments": {"location": "Oslo"}, "id": "VvvODy9mT"}]</s>'),
  weather('[TOOL_CALLS]get_weather{"location": "Oslo"}'),
  weather('[TOOL_CALLS]get_weather[ARGS]{"location": "Oslo"}'),
  weather('[{"name": "get_weather", "arguments": {"location": "Oslo"}}]'),
  // Fences
  weather(`\`\`\`json\n${json}\n\`\`\``),
  weather(`\`\`\`\n${json}\n\`\`\``),
  weather(`\`\`\`tool_call\n${json}\n\`\`\``),
  weather('```json\n{\n  "name": "get_weather",\n  "arguments": {\n    "location": "Oslo"\n  }\n}\n```\n'),
  weather('```tool_code\nget_weather(location="Oslo")\n```'),
  weather('```tool_code\nprint(get_weather(location="Oslo"))\n```'),
  weather('```python\nprint(default_api.get_weather(location="Oslo"))\n```'),
  weather(`\`\`\`xml\n<tool_call>${json}</tool_call>\n\`\`\``),
  // Bare
  weather(json),
  weather(`  ${json}  `),
  weather('{name: "get_weather", arguments: {location: "Oslo"}}'),
  weather('{"tool": "get_weather", "args": {"location": "Oslo"}}'),
  weather('{"action": "get_weather", "action_input": {"location": "Oslo"}}'),
  weather('{"function": "get_weather", "arguments": {"location": "Oslo",}}'),
  weather('{"tool_calls": [{"name": "get_weather", "arguments": {"location": "Oslo"}}]}'),
  weather(
    '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"location\\": \\"Oslo\\"}"}}]}',
  ),
  weather(`Let me check that for you.\n\n${json}`),
  weather(`I'll check the weather in Oslo.\n${json}`),
  weather(`Checking the forecast...\n${json}`),
  light('{"name": "control_light", "arguments": {"device": "kitchen lamp", "action": "ON"}}'),
  math('{"name": "math_eval", "arguments": {"expression": "12 * (3 + 4)"}}', { expression: '12 * (3 + 4)' }),
  // Code
  weather('get_weather(location="Oslo")'),
  weather("get_weather(location='Oslo', days=3)", { ...oslo, days: 3 }),
  weather('get_weather({"location": "Oslo"})'),
  weather('functions.get_weather(location="Oslo");'),
  weather('get_weather(location=Oslo)'),
  time('get_time()'),
  time('Let me check the time.\nget_time()'),
  light('control_light(device="kitchen lamp", action="on")'),
  search('search(query="a, b = (c)", limit=5)', { query: 'a, b = (c)', limit: 5 }),
  math('math_eval(expression="2^10")', { expression: '2^10' }),
  // In the thoughts
  thought(
    `The user wants to know about Oslo. I need to call get_weather.\n<tool_call>\n${json}\n</tool_call>`,
  ),
  thought(`<tool_call>\n${json}\n</tool_call>`),
  thought(`Okay. Let me check the weather.\n<tool_call>${json}</tool_call>\n`, '\n'),
]

const no = (why: string, reply: string, question?: string): Negative => ({
  why,
  reply,
  ...(question !== undefined && { question }),
})
const mused = (why: string, thinking: string, reply = ''): Negative => ({ why, thinking, reply })

/** Nothing of this is an order. */
export const MUST_NOT: Negative[] = [
  // Explaining
  no('explains a call', `To get the weather, a call like this is made:\n${json}`),
  no('explains a tag', `Qwen models write calls as <tool_call>${json}</tool_call> in their output.`),
  no('explains, tag on a line of its own', `Hermes uses this format:\n<tool_call>\n${json}\n</tool_call>`),
  no(
    'explains afterwards',
    `<tool_call>\n${json}\n</tool_call>\nThis is how a tool call looks in my template.`,
  ),
  no('explains bare JSON afterwards', `${json}\n\nThis JSON would call the weather tool.`),
  no('explains code', 'You can call get_weather(location="Oslo") to get the forecast.'),
  no('explains code on its own line', 'You can use this:\nget_weather(location="Oslo")'),
  no('says what it would do', `I would call the tool like so:\n${json}`),
  no('says what it could do', `I could use this call.\n<tool_call>${json}</tool_call>`),
  no('offers to show', `Let me show how it is done.\n${json}`),
  no('lets know', `Let me know what to do with this.\n${json}`),
  no('says what it means', `I'll explain what this means.\n${json}`),
  no('writes a text for somebody', `I'll write it into the README.\n${json}`),
  no('speaks another language', `Ein Aufruf sieht so aus:\n${json}`),
  no('speaks another language about a tag', `Voici un exemple :\n<tool_call>${json}</tool_call>`),
  // Quoting
  no('quotes the docs', `The documentation says:\n> ${json}`),
  no('quotes the docs in code', 'From the docs: `get_time()` returns the current time.'),
  no('quotes in backticks', '`get_weather(location="Oslo")`'),
  no('quotes in quotation marks', '"get_weather(location=\'Oslo\')"'),
  no('quotes a log', `In the log I found:\n${json}`),
  no('reports an earlier call', `I called this earlier:\n${json}`),
  no('reports a result', '{"name": "get_weather", "arguments": {"location": "Oslo"}, "result": "5 degrees"}'),
  no(
    'a definition of the tool',
    '{"name": "get_weather", "description": "Weather", "parameters": {"type": "object", "properties": {"location": {"type": "string"}}}}',
  ),
  no(
    'a definition without a description',
    '{"name": "get_weather", "parameters": {"type": "object", "properties": {"location": {"type": "string"}}}}',
  ),
  no(
    'a definition in a fence',
    '```json\n{"name": "get_time", "parameters": {"type": "object", "properties": {}}}\n```',
  ),
  no('a list item', `- ${json}`),
  no('a numbered step', '1. get_time()\n2. get_weather(location="Oslo")'),
  no('a table', '| call | meaning |\n|---|---|\n| get_time() | the time |'),
  no('a heading', '# get_time()'),
  // Fences with words around them
  no('a fence with words before', `Here is an example:\n\`\`\`json\n${json}\n\`\`\``),
  no('a fence with an announcement', `Let me check.\n\`\`\`json\n${json}\n\`\`\``),
  no('a fence with words after', `\`\`\`json\n${json}\n\`\`\`\nUse this in your program.`),
  no('a fence with words around', `Call it like this:\n\`\`\`\nget_time()\n\`\`\`\nand you get the time.`),
  no('two fences', `\`\`\`json\n${json}\n\`\`\`\n\`\`\`json\n${json}\n\`\`\``),
  no('a tag in a fence with words', `The template:\n\`\`\`\n<tool_call>\n${json}\n</tool_call>\n\`\`\``),
  no('a program', '```python\nimport home\nprint(get_weather(location="Oslo"))\n```'),
  no('another language', '```js\nget_weather({ location: "Oslo" })\n```'),
  no('a shell', '```sh\ntoolpost call get_weather location=Oslo\n```'),
  // Echoes
  no('echoes the user', json, `What does ${json} do?`),
  no(
    'echoes the user, spaced differently',
    '{ "name":"get_weather",\n"arguments":{"location":"Oslo"} }',
    `Repeat: ${json}`,
  ),
  no('echoes code', 'get_weather(location="Oslo")', 'Say get_weather(location="Oslo") back to me'),
  no('echoes a tag', `<tool_call>${json}</tool_call>`, `Translate to French: <tool_call>${json}</tool_call>`),
  // Not offered
  no('a tool that is not offered', '<tool_call>{"name": "open_garage", "arguments": {}}</tool_call>'),
  no('a tool that does not exist, bare', '{"name": "get_wether", "arguments": {"location": "Oslo"}}'),
  no('code that is not a tool', 'print("hello")'),
  no('a function of its own', 'fibonacci(n=10)'),
  no('another case', '{"name": "Get_Weather", "arguments": {"location": "Oslo"}}'),
  // Half
  no('cut in the arguments', '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Os'),
  no('cut before the end of the tag', `<tool_call>\n${json}`),
  no('cut JSON', '{"name": "get_weather", "arguments": {"location": "Oslo"'),
  no('no arguments', '{"name": "get_weather"}'),
  no('arguments that do not validate', '{"name": "get_weather", "arguments": {"city": "Oslo"}}'),
  no('a missing argument', '<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>'),
  no('a wrong value', '{"name": "control_light", "arguments": {"device": "lamp", "action": "explode"}}'),
  no('cut code', 'get_weather(location="Oslo"'),
  no('a position instead of a name', 'get_weather("Oslo")'),
  // Two
  no(
    'two different calls',
    `<tool_call>${json}</tool_call>\n<tool_call>{"name": "get_time", "arguments": {}}</tool_call>`,
  ),
  no('two different calls in a list', `[${json}, {"name": "get_time", "arguments": {}}]`),
  no(
    'the same tool with other arguments',
    `${json}\n{"name": "get_weather", "arguments": {"location": "Bergen"}}`,
  ),
  no('alternatives', `${json}\nor\n{"name": "get_time", "arguments": {}}`),
  // Negations, conditions, questions
  no('a negation', `I will not call this:\n${json}`),
  no('a negation with a tag', `I won't do it.\n<tool_call>${json}</tool_call>`),
  no('a prohibition', `Never use\nget_time()`),
  no('a condition', `I'll call it once it rains.\n${json}`),
  no('waits for a yes', `I'll run this if you confirm.\n${json}`),
  no('a question', `Shall I run this?\n${json}`),
  no('a question with a tag', `Let me check, okay?\n<tool_call>${json}</tool_call>`),
  no('a correction', `Let me check... actually that was wrong.\n${json}`),
  // Templates
  no('a placeholder in angle brackets', '{"name": "get_weather", "arguments": {"location": "<city>"}}'),
  no('a placeholder in capitals', 'get_weather(location="YOUR_CITY")'),
  no('dots', '{"name": "get_weather", "arguments": {"location": "..."}}'),
  no('a type for a value', '{"name": "get_weather", "arguments": {"location": "string"}}'),
  no('a bare name', 'get_weather(location=location)'),
  // Thoughts
  mused(
    'thinks about a call',
    `I could call\n<tool_call>${json}</tool_call>\nbut the user did not ask for it.`,
  ),
  mused('thinks, then answers', `<tool_call>${json}</tool_call>`, 'It is cold in Oslo.'),
  mused('thinks of an example', `The template would be for example\n<tool_call>${json}</tool_call>`),
  mused('decides against it', `I should not call\n<tool_call>${json}</tool_call>`),
  mused('thinks in JSON', json),
  mused(
    'thinks of two',
    `I need to call get_weather.\n<tool_call>${json}</tool_call>\n<tool_call>{"name":"get_time","arguments":{}}</tool_call>`,
  ),
  // Ordinary answers
  no('an ordinary answer', 'It is 5 degrees in Oslo.'),
  no('an answer in JSON', '{"temperature": 5}'),
  no('an answer with brackets', 'The result (of the call) is [5].'),
  no('nothing', ''),
]

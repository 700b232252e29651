import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { packageRoot } from '../util/package-root.ts'

const { folder, toolpost, configFile } = commandLine()

const weather = {
  name: 'get_weather',
  description: 'Current weather',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string' }, days: { type: 'integer' }, unit: { enum: ['c', 'f'] } },
    required: ['location'],
  },
  implementation: { type: 'builtin', handler: 'echo' },
}

describe('toolpost call', () => {
  it('prints the result and nothing else', async () => {
    expect(await toolpost(['call', 'echo', 'x=1'])).toEqual({ code: 0, out: '{"echo":{"x":"1"}}\n', err: '' })
  })

  it('takes JSON as it is, from the command line or standard input', async () => {
    expect((await toolpost(['call', 'echo', '{"x": 1}'])).out).toBe('{"echo":{"x":1}}\n')
    const piped = await toolpost(['call', 'echo', '-'], { input: '{"x": [true]}' })
    expect(piped.out).toBe('{"echo":{"x":[true]}}\n')
  })

  it('coerces key=value to the schema, and to text where it says nothing', async () => {
    const config = configFile({ tools: [weather] })
    const pairs = ['location=Oslo', 'days=2', 'unit=C', 'x=1']
    const { out } = await toolpost(['call', 'get_weather', ...pairs, '--config', config])
    expect(JSON.parse(out)).toEqual({ echo: { location: 'Oslo', days: 2, unit: 'c', x: '1' } })
  })

  it.each([
    ['{bad', ':1:2: is not JSON: invalid symbol\n'],
    ['{"a": 1,\n "b": }', ':2:7: is not JSON: value expected\n'],
    ['['.repeat(100_000), ':1:1: is not JSON: nested too deeply\n'],
  ])('refuses arguments that are not JSON, says where they break, exits 2: %#', async (text, problem) => {
    const { code, out, err } = await toolpost(['call', 'echo', '-', '--json'], { input: text })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe(`Error: arguments${problem}`)
  })

  it.each([
    ['a non-numeric timeout', ['call', 'echo', '--timeout', 'soon'], /--timeout expects a number/],
    [
      'a word that is neither',
      ['call', 'echo', 'a=1', 'huh'],
      /expected key=value or a single JSON .*got 'huh'/,
    ],
    ['no tool', ['call'], /missing required argument 'tool'\n\(see toolpost call --help\)/],
    ['an unknown action', ['calls', 'frob'], /value 'frob' is invalid .* Allowed choices are show, export/],
    ['an unknown choice', ['approvals', 'approve', 'x', '--remember', 'so'], /Allowed choices are session/],
    ['a file that is not there', ['eval', 'no.yaml'], /^Error: no.yaml: no such file or folder$/m],
    ['a mistyped command', ['cal', 'echo'], /unknown command 'cal'\n\(Did you mean call\?\)\n/],
    ['a mistyped option', ['call', 'echo', '--jsno'], /unknown option '--jsno'\n\(Did you mean --json\?\)\n/],
    [
      'an unknown log level',
      ['call', 'echo', '--log-level', 'loud'],
      /invalid log level 'loud'; expected one of/,
    ],
  ])('exits 2 after %s', async (_what, words, message) => {
    const { code, out, err } = await toolpost(words)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
  })

  it('loads nothing of LangChain, mathjs, pino, MCP or MiniSearch for an echo', async () => {
    const spy = join(folder, 'spy.cjs')
    writeFileSync(
      spy,
      `const Module = require('node:module')
       const seen = []
       const load = Module._load
       Module._load = function (request) { seen.push(request); return load.apply(this, arguments) }
       Module.register && Module.register('data:text/javascript,' + encodeURIComponent(
         'import { appendFileSync } from "node:fs"; export async function resolve(s, c, n) { appendFileSync(process.env.SPY_FILE, s + "\\\\n"); return n(s, c) }'))
       process.on('exit', () => require('node:fs').appendFileSync(process.env.SPY_FILE, seen.join('\\n')))`,
    )
    const seenFile = join(folder, 'seen.txt')
    writeFileSync(seenFile, '')
    const options = { env: { SPY_FILE: seenFile }, node: ['--require', spy] }
    expect((await toolpost(['call', 'echo', 'x=1'], options)).out).toBe('{"echo":{"x":"1"}}\n')
    const seen = readFileSync(seenFile, 'utf8').split('\n')
    const heavy = /langchain|mathjs|pino|modelcontextprotocol|minisearch|json5/
    expect(seen.filter(name => heavy.test(name))).toEqual([])
    expect((await toolpost(['chat', 'what time is it', '--model', 'offline'], options)).code).toBe(0)
    expect(readFileSync(seenFile, 'utf8')).not.toContain('langchain')
    const bundle = readFileSync(join(packageRoot(), 'dist', 'cli.cjs'), 'utf8')
    expect(bundle).not.toMatch(/node_modules\/(mathjs|pino|@langchain)/)
  })
})

describe('the bundled command line', () => {
  const durable = { durable: { databaseUrl: 'postgres://u@127.0.0.1:1/x' } }

  it('imports no module of its own package beside it: everything is there once in a process', () => {
    const bundle = readFileSync(join(packageRoot(), 'dist', 'cli.cjs'), 'utf8')
    expect(bundle).not.toMatch(/(?:import|require)\("(\.[^"]+|toolpost(?!-sentences")[^"]*)"\)/)
  })

  it.each([
    ['runs every command', ['calls'], {}, 'cli.cjs'],
    ['hands over to the modules for durable calls', ['tools'], durable, 'main.js'],
    ['and for the voice gateway, which uses them too', ['up', '--voice', '--port', 'none'], {}, 'main.js'],
  ])('%s', async (_what, words, config, file) => {
    const spy = join(folder, 'stack.cjs')
    writeFileSync(
      spy,
      `const { on } = process.stdout
       process.stdout.on = function () { process.stderr.write(new Error('FROM').stack + '\\n'); return on.apply(this, arguments) }`,
    )
    const { err } = await toolpost([...words, '--config', configFile(config)], { node: ['--require', spy] })
    expect(err).toMatch(new RegExp(`dist/(cli/)?${file}:`))
  })
})

describe('a configuration with a mistake', () => {
  it('is used without the keys that are not ours, which are named in one line', async () => {
    const config = configFile({ toolz: [], theme: 'dark' })
    const { code, err } = await toolpost(['call', 'echo', 'x=1', '--config', config])
    expect(code).toBe(0)
    expect(err).toMatch(/^⚠️ .*json: ignoring unknown keys toolz \(did you mean 'tools'\?\), theme\n$/)
  })

  it.each([
    ['invalid JSON', '{\n  "tools": [,]\n}', /:2:13: is not JSON: value expected/i],
    [
      'an unknown key where a typo would open a door',
      { limits: { tols: {} } },
      /json:1:12, limits: unknown 'limits\.tols'; expected one of tools, servers, callers, breaker/,
    ],
    [
      'a model that does not exist',
      '{\n  "model": "gpt"\n}',
      /json:2:12, model: expected ollama:<model>, anthropic:<model>, openai:<model> or offline$/m,
    ],
  ])('[F41] names file and place, exits 2 and runs nothing: %s', async (_what, config, message) => {
    const file = configFile(config)
    const { code, out, err } = await toolpost(['call', 'echo', 'x=1', '--config', file])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
    expect(err).toContain(file)
  })
})

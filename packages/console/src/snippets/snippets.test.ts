import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { asCommand, asCurl, asTest, type SnippetOptions } from './snippets.ts'

const plain = { tool: 'echo', args: { x: 1 }, origin: 'http://127.0.0.1:4040', withToken: false }

const folder = mkdtempSync(join(tmpdir(), 'toolpost-snippets-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What a real shell makes of command lines if the command only prints its arguments. */
function words(commandLines: string[], command: string): string[][] {
  const print = `${command}() { printf '%s\\0' "$#" "$@"; }`
  const file = join(folder, 'script.sh')
  writeFileSync(file, [print, ...commandLines].join('\n'))
  const printed = execFileSync('sh', [file], { encoding: 'utf8', cwd: folder }).split('\0').slice(0, -1)
  const calls: string[][] = []
  while (printed.length > 0) calls.push(printed.splice(0, Number(printed.shift())))
  return calls
}

const HOSTILE = [
  "it's; rm -rf $HOME `id` $(id) ${IFS}",
  '\u0003\nrm -rf ~\n',
  'a\u001b[31m\u009b2J\u202e\u2066\u061c\u200b',
  'ends with line breaks\n\n',
  '\n',
  '-n %s %% \\033 \\\\ \\c',
  '--help',
  '!! !$ "double" #comment ~ * ? [a] {b,c}',
  '\r\n\t tabs 🙂 ünïcödé \u{e0041}',
  '</script>\u2028\u2029*/ // ${process.exit()}',
  '__proto__',
  '',
]
/** No shell can take these as an argument. */
const noNul = (text: string) => !text.includes('\0')
const anyText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
)
const anyArgs = fc.dictionary(anyText, fc.oneof(anyText, fc.jsonValue()), { noNullPrototype: true })
const anyCalls = fc.array(fc.record({ tool: anyText.filter(noNul), args: anyArgs }), {
  minLength: 20,
  maxLength: 20,
})

/** JSON has no minus zero. */
const sent = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown
const hostileCalls: SnippetOptions[] = [
  ...HOSTILE.map(text => ({ ...plain, tool: text, args: { [text]: text, lone: '\ud800', text: [text] } })),
  ...fc
    .sample(anyCalls, { numRuns: 5, seed: 46 })
    .flat()
    .map(call => ({ ...plain, ...call })),
]

describe('a call copied as a command', () => {
  it('is short if the call is', () => {
    expect(asCommand(plain)).toBe(`toolpost call echo '{"x":1}'`)
    expect(asCommand({ ...plain, args: {} })).toBe('toolpost call echo')
  })

  it('reaches the command unchanged through a real shell, and nothing else runs', () => {
    const arrived = words(hostileCalls.map(asCommand), 'toolpost')
    for (const [at, { tool, args }] of hostileCalls.entries()) {
      const [call, ...rest] = arrived[at] ?? []
      const [name, json = '{}'] = rest[0] === '--' ? rest.slice(1) : rest
      expect([call, name, JSON.parse(json)]).toEqual(['call', tool.toWellFormed(), sent(args)])
    }
    expect(arrived).toHaveLength(hostileCalls.length)
  })

  it('[F33] has no character that a terminal would obey', () => {
    for (const call of hostileCalls)
      for (const text of [asCommand(call), asCurl(call)])
        expect(
          text
            .replaceAll(/'\n+'$/g, '')
            .replaceAll(/'\n+' '/g, '')
            .replaceAll(' \\\n', ''),
        ).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
  })
})

describe('a call copied as curl', () => {
  it('names the address and the arguments', () => {
    expect(words([asCurl(plain)], 'curl')).toEqual([
      [
        '-sS',
        'http://127.0.0.1:4040/api/tools/echo/call',
        '-H',
        'content-type: application/json',
        '-d',
        '{"x":1}',
      ],
    ])
  })

  it('takes the token from the environment', () => {
    expect(asCurl({ ...plain, withToken: true })).toContain('-H "authorization: Bearer $TOOLPOST_TOKEN"')
  })

  it('reaches curl unchanged through a real shell, and nothing else runs', () => {
    const arrived = words(hostileCalls.map(asCurl), 'curl')
    for (const [at, { tool, args }] of hostileCalls.entries()) {
      const [, address = '', , , , json = ''] = arrived[at] ?? []
      expect(address).toBe(`${plain.origin}/api/tools/${encodeURIComponent(tool.toWellFormed())}/call`)
      expect(JSON.parse(json)).toEqual(sent(args))
    }
  })
})

describe('a call copied as a test', () => {
  it('expects the result that was seen', () => {
    const result = { success: true, result: { a: [1] }, tool_name: 'echo', execution_time_ms: 1 } as const
    expect(asTest({ ...plain, result })).toMatchInlineSnapshot(`
      "import assert from 'node:assert/strict'
      import { test } from 'node:test'

      test('echo answers', async () => {
        const response = await fetch('http://127.0.0.1:4040/api/tools/echo/call', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            "x": 1
          }),
        })
        const answer = await response.json()
        assert.equal(answer.success, true, answer.error)
        assert.deepEqual(answer.result, {
          "a": [
            1
          ]
        })
      })
      "
    `)
  })

  it('expects the code of a failure', () => {
    const result = {
      success: false,
      error: 'x',
      code: 'timeout',
      tool_name: 'echo',
      execution_time_ms: 1,
    } as const
    expect(asTest({ ...plain, result })).toContain("assert.equal(answer.code, 'timeout')")
  })

  it('sends what it was made of, and runs nothing else, when Node runs it', () => {
    const seen = join(folder, 'seen.jsonl')
    writeFileSync(join(folder, 'fake-fetch.mjs'), FAKE_FETCH)
    const files = hostileCalls.slice(0, 40).map((call, at) => {
      const file = join(folder, `copied-${at}.mjs`)
      const result = { success: true, result: call.args, tool_name: call.tool, execution_time_ms: 1 } as const
      writeFileSync(file, asTest({ ...call, result }))
      return file
    })
    const all = join(folder, 'all.test.mjs')
    writeFileSync(
      all,
      ['./fake-fetch.mjs', ...files].map(file => `import ${JSON.stringify(file)}\n`).join(''),
    )
    const env = { PATH: process.env.PATH, SEEN: seen }
    execFileSync(process.execPath, ['--test', '--test-reporter=tap', all], { cwd: folder, env })
    const requests = readFileSync(seen, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { url: string; body: string })
    for (const [at, { tool, args }] of hostileCalls.slice(0, 40).entries()) {
      expect(decodeURIComponent(requests[at]?.url.split('/').at(-2) ?? '')).toBe(tool.toWellFormed())
      expect(JSON.parse(requests[at]?.body ?? '')).toEqual(sent(args))
    }
  })
})

/** Keeps every request, and answers with what was sent. */
const FAKE_FETCH = `import { appendFileSync } from 'node:fs'
globalThis.fetch = async (url, { body }) => {
  appendFileSync(process.env.SEEN, JSON.stringify({ url, body }) + '\\n')
  return { json: async () => ({ success: true, result: JSON.parse(body) }) }
}
`

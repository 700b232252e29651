import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { asCommand, asCurl, asTest } from './snippets.ts'

const plain = { tool: 'echo', args: { x: 1 }, origin: 'http://127.0.0.1:4040', withToken: false }
const hostile = {
  ...plain,
  tool: "it's; rm -rf $HOME `id`",
  args: { "a'b": "$(id) \u001b[31m \u009b \u202e 'quoted' \\ \n" },
}

/** What a shell makes of a command line whose command is replaced by one that prints its arguments. */
function words(commandLine: string, command: string): string[] {
  const script = `${command}() { printf '%s\\0' "$@"; }\n${commandLine}`
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)
}

describe('a call copied as a command', () => {
  it('is short where the call is', () => {
    expect(asCommand(plain)).toBe(`toolpost call echo '{"x":1}'`)
    expect(asCommand({ ...plain, args: {} })).toBe('toolpost call echo')
  })

  it('reaches the command unchanged, whatever is in it', () => {
    const [call, tool, args] = words(asCommand(hostile), 'toolpost')
    expect([call, tool, JSON.parse(args ?? '')]).toEqual(['call', hostile.tool, hostile.args])
    expect(asCommand(hostile)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
  })
})

describe('a call copied as curl', () => {
  it('names the address and the arguments', () => {
    expect(words(asCurl(plain), 'curl')).toEqual([
      '-sS',
      'http://127.0.0.1:4040/api/tools/echo/call',
      '-H',
      'content-type: application/json',
      '-d',
      '{"x":1}',
    ])
  })

  it('takes the token from the environment', () => {
    expect(asCurl({ ...plain, withToken: true })).toContain('-H "authorization: Bearer $TOOLPOST_TOKEN"')
  })

  it('keeps a hostile name inside of the address', () => {
    const [, address, , , , args] = words(asCurl(hostile), 'curl')
    expect(address).toBe(`http://127.0.0.1:4040/api/tools/${encodeURIComponent(hostile.tool)}/call`)
    expect(JSON.parse(args ?? '')).toEqual(hostile.args)
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
})

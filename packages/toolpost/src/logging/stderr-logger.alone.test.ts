import { describe, expect, it } from 'vitest'
import { removeFromLogs, treatAsSecret } from './redact.ts'
import { stderrLogger } from './stderr-logger.ts'

function setUp({ isTTY = false } = {}) {
  const lines: string[] = []
  const stream = { isTTY, write: (line: string) => lines.push(line) > 0 }
  const logger = stderrLogger('info', stream as unknown as NodeJS.WriteStream)
  const fieldsOf = (fields: object) => {
    logger.info(fields)
    return JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>
  }
  return { logger, lines, fieldsOf }
}

describe('the stderr logger', () => {
  it('writes JSON lines of the enabled levels, with the fields of its parents', () => {
    const { logger, lines } = setUp()
    logger.child({ server: 'home' }).child({ part: 1 }).warn({ n: 2 }, 'late')
    logger.debug({}, 'not enabled')
    logger.level = 'debug'
    logger.debug({}, 'enabled')
    logger.level = 'silent'
    logger.error({}, 'not enabled')
    const time = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(lines.map(line => JSON.parse(line))).toEqual([
      { level: 'warn', time, server: 'home', part: 1, n: 2, msg: 'late' },
      { level: 'debug', time, msg: 'enabled' },
    ])
  })

  it('[F33] writes one readable line on a terminal, whatever is logged', () => {
    const { logger, lines } = setUp({ isTTY: true })
    logger.warn({ tool: 'a\u001b[2Jb', list: [1, '\u202e'] }, 'slow\nFORGED line')
    expect(lines).toEqual([expect.stringMatching(/^[\d:]{8} warn slow\\nFORGED line {2}tool=/)])
    expect(lines[0]).toMatch(/tool=a\\u001b\[2Jb list=\[1,"\\u202e"\]\n$/)
  })

  it('[F31] writes lone surrogates as escapes', () => {
    const { fieldsOf, lines } = setUp()
    fieldsOf({ text: 'x\ud800y😀', '\udc00': 1 })
    expect(lines[0]).toContain('"x\\ud800y😀"')
    expect(lines[0]?.isWellFormed()).toBe(true)
  })

  it('cuts what is long, deep or wide, and survives getters, proxies and cycles', () => {
    const { logger, lines, fieldsOf } = setUp()
    let deep: unknown = 'inside'
    for (let level = 0; level < 10_000; level++) deep = [deep]
    const cycle: Record<string, unknown> = { n: 1n }
    cycle.self = cycle
    const fail = () => {
      throw new Error('no')
    }
    const wide = Array.from({ length: 100_000 }, (_, n) => n)
    const broken = Object.defineProperty({}, 'field', { get: fail, enumerable: true })
    const fields = {
      deep,
      cycle,
      wide,
      broken,
      proxy: new Proxy({}, { ownKeys: fail }),
      long: 'x'.repeat(1e6),
    }
    expect(fieldsOf(fields)).toMatchObject({
      cycle: { n: '1', self: '[circular]' },
      ...{ long: '[…]', broken: { field: '[unreadable: no]' }, proxy: '[unreadable: no]' },
    })
    logger.info({}, 'x'.repeat(1_000_000))
    expect(lines.join('').length).toBeLessThan(50_000)
    expect(lines.join('')).toMatch(/… 99000 more.*… \(1000000 characters\)/s)
  })
})

describe('[F34] redaction', () => {
  it('removes the values of secret keys, at any depth, in maps and in text', () => {
    const { fieldsOf, lines } = setUp()
    treatAsSecret(['houseCode'])
    fieldsOf({
      dbPassword: 'wombat7',
      'X-Api-Key': 'wombat7',
      list: [{ ACCESS_TOKEN: 'wombat7', user_pin: 1_234_567, my_house_code: 'wombat7' }],
      map: new Map([['Set-Cookie', 'wombat7']]),
      json: '{"password": "wombat7 \\" wombat7", "pin": 1234567, "ok": 1}',
      inspected: "{ token: 'wombat7' }",
      query: 'https://host/?api_key=wombat7&page=2',
      'text?secret=wombat7': true,
    })
    expect(lines.join('')).not.toMatch(/wombat7|1234567/)
    expect(lines.join('')).toMatch(/"ok\\": 1.*page=2/)
  })

  it('removes registered values: as they are, as in JSON, and as in a URL', () => {
    const { fieldsOf, lines } = setUp()
    const secret = 'tulip "garden" & 42'
    removeFromLogs([secret, 'short'])
    const { note } = fieldsOf({
      note: `say ${secret} or short`,
      json: JSON.stringify({ a: secret }),
      url: `http://host/${encodeURIComponent(secret)}`,
      cut: `${'x'.repeat(9_990)}${secret}`,
    })
    expect(note).toBe('say [removed] or short')
    expect(lines.join('')).not.toMatch(/tulip|garden/)
  })

  it.each([
    ['Authorization header', 'Bearer abcdef123456'],
    ['Authorization header', 'Basic dXNlcjpwYXNzd29yZA=='],
    ['user and password in a URL', 'me:wombat@', 'postgres://', 'db/x'],
    ['private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----'],
    ['JSON Web Token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SflKxwRJSM'],
    ['Anthropic', 'sk-ant-api03-abcdefgh12345678'],
    ['OpenAI', 'sk-proj-abcdefgh12345678'],
    ['GitHub', `github_pat_${'a1'.repeat(18)}`],
    ['GitLab', 'glpat-abcdefgh12345678'],
    ['Slack', 'xoxb-1234-5678-abcdefgh'],
    ['AWS', 'AKIAIOSFODNN7EXAMPLE'],
    ['Google', `AIza${'Ab1'.repeat(12)}`],
    ['Stripe', 'sk_live_abcdefgh1234'],
    ['npm', `npm_${'a1'.repeat(18)}`],
    ['Hugging Face', `hf_${'a1'.repeat(10)}`],
  ])('removes a well-known token: %s', (_issuer, token, before = 'is ', after = ' ok') => {
    const { logger, lines } = setUp()
    logger.info({ text: before + token + after }, before + token + after)
    const { text, msg } = JSON.parse(lines[0] ?? '')
    const at = token.endsWith('@') ? '@' : ''
    expect([text, msg]).toEqual(Array(2).fill(`${before}[removed]${at}${after}`))
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSecretKey, removeFromLogs, safeText, safeValue } from './safe-value.ts'

describe('a key', () => {
  it.each([
    ...['password', 'Password', 'user_password', 'dbPassword1', 'passwd', 'passphrase', 'pwd'],
    ...['pass', 'user_pass', 'userPass', 'DB_PASS', 'PASS', 'MQTTPass', 'smtp-pass', 'pass2'],
    ...['token', 'accessToken', 'refresh_token', 'id-token', 'ACCESSTOKEN', 'token2', 'jwt'],
    ...['apiKey', 'X-Api-Key', 'api key', 'Set-Cookie', 'Authorization', 'client-secret', 'AWS_ACCESS_KEY'],
  ])('[F34] %s names a secret', key => expect(isSecretKey(key)).toBe(true))

  it.each([
    ...['compass', 'Compass', 'COMPASS', 'bypass', 'by_passing', 'pass_count', 'passenger'],
    ...['max_tokens', 'maxTokens', 'token_count', 'tokenizer', 'key', 'keyboard', 'monkey', 'author', ''],
  ])('%s names none', key => expect(isSecretKey(key)).toBe(false))
})

describe('a text', () => {
  it.each([
    ['{"password":"hunter2"}', '{"password":"[removed]"}'],
    ['{"a":1,"password" : "hunter2","b":2}', '{"a":1,"password" : "[removed]","b":2}'],
    ['{\\"password\\":\\"hunter2\\",\\"b\\":2}', '{\\"password\\":\\"[removed]\\",\\"b\\":2}'],
    ['{"password":"hun\\"ter2\\\\","b":2}', '{"password":"[removed]","b":2}'],
    ['{"password\\"x":"hunter2"}', '{"password\\"x":"[removed]"}'],
    ['{"pass\\u0077ord":"hunter2"}', '{"pass\\u0077ord":"[removed]"}'],
    ['{"password":12345,"b":2}', '{"password":[removed],"b":2}'],
    ['{\\"password\\":12345,\\"b\\":2}', '{\\"password\\":[removed],\\"b\\":2}'],
    ['{"cookies":["hunter2]",{"a":"hunter2"}],"b":2}', '{"cookies":[removed],"b":2}'],
    ['{"password":"hunter2 and its en', '{"password":"[removed]'],
    ["{'password': 'hunter2'}", "{'password': '[removed]'}"],
    ["Map(1) { 'password' => 'hunter2' }", "Map(1) { 'password' => '[removed]' }"],
    ['http://x/?api_key=hunter2&b=2', 'http://x/?api_key=[removed]&b=2'],
    ['{"url":"http://x/?token=hunter2","b":2}', '{"url":"http://x/?token=[removed]","b":2}'],
    ['token=hunter2 b', 'token=[removed] b'],
    ["password: hunt'er2&x, b", 'password: [removed], b'],
    ['**Password:** hunter2', '**Password:** [removed]'],
    ['Your API key: hunter2', 'Your API key: [removed]'],
    ['token=a,password: hunter2', 'token=[removed] [removed]'],
    ['token=a,password:"hunter 2"', 'token=[removed]"[removed]"'],
    ['token=a,cookies:[1, hunter2] b', 'token=[removed] b'],
    ['token=a,cookies:[1],password: hunter2', 'token=[removed] [removed]'],
    ['token:\n  hunter2', 'token:\\n  [removed]'],
    ['Authorization: Digest hunter2, b="hunter2"\nnext', 'Authorization: [removed]\\nnext'],
    ['Cookie: a="hunter2"; b=hunter2', 'Cookie: [removed]'],
    ['<a>password=hunter2</a>', '<a>password=[removed]</a>'],
    ['http://me:hunter2@host/', 'http://me:[removed]@host/'],
    ['Bearer hunter2hunter2', 'Bearer [removed]'],
    ['Basic dXNlcjpodW50ZXIy', 'Basic [removed]'],
    ['Basic dXNlcjpodWRl', 'Basic [removed]'],
    ['authorization basic hunterhunter', 'authorization basic [removed]'],
  ])('[F34] %s has its secret removed', (text, safe) => {
    expect(safeText(text)).toBe(safe)
    expect(safeText(safe)).toBe(safe)
  })

  it.each([
    ...['basic information', 'Basic Information', 'basic authentication', 'compass: north', 'bypass=true'],
    ...[
      'max_tokens=5',
      '{"max_tokens":5,"token_count":6}',
      'tokenizer: bpe',
      'monkey: x',
      'Enter your token: ',
    ],
    ...['?token=&a=b', 'http://localhost:8080/a', '12:03:04', '{"password":""}', 'no password, no token'],
  ])('%s stays as it is', text => expect(safeText(text)).toBe(text))

  it('[F34] shows no half of a secret where it is cut', () => {
    const secret = 'S'.repeat(400)
    for (const start of ['{"password":"', 'token=', 'Bearer ', 'http://me:']) {
      const safe = safeText(`${'x '.repeat(225)}${start}${secret}@host/`)
      expect(safe).not.toContain('SS')
      expect(safe).toContain(start.trimEnd())
    }
  })

  it('[F34] shows no half of a secret where the search for secrets ended', () => {
    const long = `{"password":"${'x'.repeat(19_900)}"} `
    const safe = safeText(`${long}http://me:${'S'.repeat(500)}@host/`)
    expect(safe).toBe('{"password":"[removed]"} …')
  })

  it('[F34] has known values removed before it is shortened', () => {
    removeFromLogs(['known-value-1'])
    expect(safeText('a known-value-1 b', 8)).toBe('a [remov… (17 characters)')
    expect(safeValue({ 'known-value-1': 1 })).toEqual({ '[removed]': 1 })
  })

  it.each([
    ...['token=', 'password:[', 'password:"', '\\', 'password:\\', 'basic ', 'token=}', "token:'", 'a:'],
    ...['authorization:="', 'http://a:', ' ', 'basic a', 'password:{"', 'token=a&'],
  ])('takes no long time over 200,000 × %j', part => {
    const started = performance.now()
    safeText(`password: ${part.repeat(200_000 / part.length)}!`, Number.POSITIVE_INFINITY)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('a value', () => {
  it.each([
    ['{"password":"hunter2"}', '{"password":"[removed]"}'],
    [{ c: '{"password":"hunter2"}' }, { c: '{"password":"[removed]"}' }],
    [new Map([['password', 'hunter2']]), { password: '[removed]' }],
    [new Map([['a', new Map([['token', 'hunter2']])]]), { a: { token: '[removed]' } }],
    [
      new Map<unknown, unknown>([
        ['token', 'hunter2'],
        [1, 'b'],
      ]),
      [
        ['token', '[removed]'],
        [1, 'b'],
      ],
    ],
    [new Map([['__proto__', 'a']]), { '[__proto__]': 'a' }],
    [{ 'token=hunter2': 1 }, { 'token=[removed]': 1 }],
    [new Error('token=hunter2'), { name: 'Error', message: 'token=[removed]' }],
    [
      { compass: 'north', max_tokens: 5 },
      { compass: 'north', max_tokens: 5 },
    ],
  ])('[F34] %# has no secret', (value, safe) => {
    const copy = safeValue(value)
    if (value instanceof Map && value.has('__proto__'))
      expect(Object.keys(copy as object)).toEqual(['[__proto__]'])
    else expect(copy).toEqual(safe)
  })
})

const SECRET = 'S3CR3T'
const secretKey = fc
  .tuple(
    fc.constantFrom('', 'my ', 'user_', 'x"'),
    fc.constantFrom('password', 'apiKey', 'access_token', 'Cookie'),
  )
  .map(parts => parts.join(''))
/** Texts with what is used to end a text: quotes, backslashes, brackets, separators. */
const text = fc.string({
  unit: fc.constantFrom('a', 'B', '"', "'", '\\', '{', '}', '[', ']', ':', '=', ',', ' ', '\n'),
})
const secret = fc
  .tuple(text, text)
  .chain(([before, after]) =>
    fc.constantFrom<unknown>(before + SECRET + after, [before, SECRET + after], { [before]: { a: SECRET } }),
  )

/** An object with a secret under one to four other objects and lists. */
const withSecret = fc
  .tuple(secretKey, secret, fc.array(fc.tuple(text, fc.boolean(), fc.jsonValue()), { maxLength: 4 }))
  .map(([key, value, way]) =>
    way.reduce<unknown>(
      (inner, [name, list, other]) =>
        list ? [other, inner] : { before: other, [`k${name}`]: inner, after: other },
      { [key]: value },
    ),
  )

describe('[F34] a secret with a name, at any depth,', () => {
  it('is in no safe value', () => {
    fc.assert(fc.property(withSecret, value => !JSON.stringify(safeValue(value)).includes(SECRET)))
  })

  it.each([1, 2, 3])('is in no safe text of it as JSON, %i times over', times => {
    fc.assert(
      fc.property(withSecret, fc.boolean(), (value, shortened) => {
        let json = value
        for (let n = 0; n < times; n++) json = JSON.stringify(json)
        const safe = safeText(json as string, shortened ? 60 : 100_000)
        return !safe.includes(SECRET)
      }),
      { numRuns: 500 },
    )
  })
})

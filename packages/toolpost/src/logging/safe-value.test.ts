import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { forgetSecrets } from './known-secrets.ts'
import { isSecretKey, removeFromLogs, safeLines, safeText, safeValue, treatAsSecret } from './safe-value.ts'

describe('a key', () => {
  it.each([
    ...['password', 'Password', 'user_password', 'dbPassword1', 'passwd', 'passphrase', 'pwd'],
    ...['pass', 'user_pass', 'userPass', 'DB_PASS', 'PASS', 'MQTTPass', 'smtp-pass', 'pass2'],
    ...['token', 'accessToken', 'refresh_token', 'id-token', 'ACCESSTOKEN', 'token2', 'jwt'],
    ...[
      'auth',
      'basic_auth',
      'pin',
      'userPin',
      'pin_code',
      'otp',
      'pw',
      'db-pw',
      'passcode',
      'sessionId',
      'PHPSESSID',
    ],
    ...['OPENAI_KEY', 'GITHUB_PAT', 'SSH_KEY', 'openai key', 'ssh_key', 'MY_OWN_KEY', 'creds', 'auth code'],
    ...['apiKey', 'X-Api-Key', 'api key', 'Set-Cookie', 'Authorization', 'client-secret', 'AWS_ACCESS_KEY'],
  ])('[F34] %s names a secret', key => expect(isSecretKey(key)).toBe(true))

  it.each([
    ...['compass', 'Compass', 'COMPASS', 'bypass', 'by_passing', 'pass_count', 'passenger'],
    ...[
      'author',
      'authored_by',
      'spinning',
      'pinned',
      'pins',
      'opinion',
      'secretary',
      'pattern',
      'PATH',
      'session',
    ],
    ...['primary_key', 'PRIMARY_KEY', 'cacheKey', 'sort key', 'country_code', 'phone_number', 'keys', 'pat'],
    ...['max_tokens', 'maxTokens', 'token_count', 'tokenizer', 'key', 'keyboard', 'monkey', ''],
  ])('%s does not name a secret', key => expect(isSecretKey(key)).toBe(false))
})

describe('a text', () => {
  it.each([
    ['{"password":"hunter2"}', '{"password":"[removed]"}'],
    ['{"a":1,"password" : "hunter2","b":2}', '{"a":1,"password" : "[removed]","b":2}'],
    ['{\\"password\\":\\"hunter2\\",\\"b\\":2}', '{\\"password\\":\\"[removed]\\",\\"b\\":2}'],
    ['{"password":"hun\\"ter2","b":2}', '{"password":"[removed]","b":2}'],
    ['{"password":"hun\\"ter2\\\\","token":"hunter2"}', '{"password":"[removed]"token":"[removed]"}'],
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
    ['run --password hunter2 --verbose', 'run --password [removed] --verbose'],
    ['run --token=hunter2 x', 'run --token=[removed] x'],
    ["run --api-key 'hunter 2' x", 'run --api-key [removed] x'],
    ['["--password", "hunter 2", "b"]', '["--password", "[removed]", "b"]'],
    ['{\\"args\\":[\\"--password\\",\\"hunter2\\"]}', '{\\"args\\":[\\"--password\\",\\"[removed]\\"]}'],
    ['curl -u me:hunter2 http://x/', 'curl -u me:[removed] http://x/'],
    ['sshpass -p hunter2 ssh me@host', 'sshpass -p [removed] ssh me@host'],
    ['sshpass -phunter2 ssh me@host', 'sshpass -p[removed] ssh me@host'],
    ["docker login -u me -p 'hunter 2' host", 'docker login -u me -p [removed] host'],
    ['mysql -h host -u root -phunter2 db', 'mysql -h host -u root -p[removed] db'],
    ['redis-cli -h host -a hunter2', 'redis-cli -h host -a [removed]'],
    ['curl -b hunter2=1 http://x/', 'curl -b [removed] http://x/'],
    ['["curl","-u","me:hunter2"]', '["curl","-u","me:[removed]"]'],
    [
      '[\\"docker\\", \\"login\\", \\"-p\\", \\"hunter2\\"]',
      '[\\"docker\\", \\"login\\", \\"-p\\", \\"[removed]\\"]',
    ],
    ['machine host login me password hunter2', 'machine host login me password [removed]'],
    ['machine host\n  login me\n  password swordfish', 'machine host\\n  login me\\n  password [removed]'],
    ['the password is hunter2, keep it', 'the password is [removed] keep it'],
    ['Your api key was "swordfish".', 'Your api key was "[removed]".'],
    ['a:\n  password: |\n    hunter2\n    hunter2\n  b: 1', 'a:\\n  password: [removed]\\n  b: 1'],
    ['password: >-\n  hunter2\n\n  hunter2\nb: 1', 'password: [removed]\\nb: 1'],
    ['"password: |\\n  hunter2\\nb: 1"', '"password: [removed]\\nb: 1"'],
    ['authorization: hunter-2', 'authorization: [removed]'],
    ['password: swordfish', 'password: [removed]'],
    ['{"token":"passed"}', '{"token":"[removed]"}'],
    ['<password>hunter2</password>', '<password>[removed]</password>'],
    ['<ns:apiKey id="1"><![CDATA[hunter2]]></ns:apiKey>', '<ns:apiKey id="1"><![CDATA[[removed]</ns:apiKey>'],
    ['<entry key="password">hunter2</entry>', '<entry key="password">[removed]</entry>'],
    ['<add name="password" value="hunter2"/>', '<add name="password" value="[removed]"/>'],
    ['https://hunter2@host/a', 'https://[removed]@host/a'],
    ['mqtt://me:50%off/hunter2@host', 'mqtt://me:[removed]@host'],
    ['postgres://me:hunt@er2@host/db', 'postgres://me:[removed]@host/db'],
    ['{"name":"password","value":"hunter2"}', '{"name":"password","value":"[removed]"}'],
    [
      '{"value": "hunter2", "n": 1, "name": "password"}',
      '{"value": "[removed]", "n": 1, "name": "password"}',
    ],
    ['[["token","hunter2"]]', '[["token","[removed]"]]'],
    [
      'headers: [{\\"name\\":\\"Cookie\\",\\"value\\":\\"a=hunter2\\"}]',
      'headers: [{\\"name\\":\\"Cookie\\",\\"value\\":\\"[removed]\\"}]',
    ],
    ['pin: 1234, ok', 'pin: [removed], ok'],
    ['OPENAI_KEY=hunter2', 'OPENAI_KEY=[removed]'],
    ['is sk-ant-api03-hunter2hunter2 ok', 'is [removed] ok'],
    ['is sk-hunter2hunter2hunter2 ok', 'is [removed] ok'],
    [`is ghp_${'a1'.repeat(18)} ok`, 'is [removed] ok'],
    [`is github_pat_${'a1'.repeat(30)} ok`, 'is [removed] ok'],
    ['is xoxb-1234-5678-hunter2 ok', 'is [removed] ok'],
    ['is AKIAHUNTER2HUNTER2XX ok', 'is [removed] ok'],
    [`is AIza${'Hunter2'.repeat(5)} ok`, 'is [removed] ok'],
    ['is eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ-hunter2 ok', 'is [removed] ok'],
    ['a -----BEGIN RSA PRIVATE KEY-----\nhunter2\nhunter2\n-----END RSA PRIVATE KEY----- b', 'a [removed] b'],
    ['-----BEGIN PRIVATE KEY-----\nhunter2', '[removed]'],
    ['hunter2\nhunter2==\n-----END PRIVATE KEY-----\nb', '[removed]\\nb'],
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
    ...['6f1c2d34-5e6f-4a7b-8c9d-0e1f2a3b4c5d', 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c'],
    ...[
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ',
      'author: me',
      'spinning: 5',
      'auth: none',
    ],
    ...[
      '{"author":"me","pinned":true,"auth":true}',
      'git@github.com:a/b.git',
      'ssh://git@host/a',
      '--verbose x',
    ],
    ...[
      'http://host:8080/a?to=me@host',
      'http://[::1]:8080/a@b',
      '<author>me</author>',
      'task-force-of-many-words-1',
    ],
    ...[
      '{"name":"colour","value":"red"}',
      'user: 5 keys: 6',
      'Content-Type: text/plain',
      'the passenger: Bob',
    ],
    ...[
      'authorization: denied by policy',
      'cookie: recipe with chocolate, and how to bake it',
      'token: passed',
      'Token: expired 5 minutes ago',
      'password: must have eight characters',
      'the password is wrong',
      'this token is required.',
      'docker run -p 80:80 image',
      'mysql -p db',
      'tar -a x',
      'summary: |\\n  a\\n  b',
    ],
    ...['?token=&a=b', 'http://localhost:8080/a', '12:03:04', '{"password":""}', 'no password, no token'],
  ])('%s stays as it is', text => expect(safeText(text)).toBe(text))

  it('[F34] never shows half a secret where it is cut', () => {
    const secret = 'S'.repeat(400)
    for (const start of ['{"password":"', 'token=', 'Bearer ', 'http://me:']) {
      const safe = safeText(`${'x '.repeat(225)}${start}${secret}@host/`)
      expect(safe).not.toContain('SS')
      expect(safe).toContain(start.trimEnd())
    }
  })

  it('[F34] never shows half a secret where the search for secrets ended', () => {
    const long = `{"password":"${'x'.repeat(19_900)}"} `
    const safe = safeText(`${long}http://me:${'S'.repeat(500)}@host/`)
    expect(safe).toBe('{"password":"[removed]"} …')
  })

  it('[F34] has known values removed before it is shortened', () => {
    removeFromLogs(['known-value-1'])
    expect(safeText('a known-value-1 b', 8)).toBe('a [remov… (17 characters)')
    expect(safeValue({ 'known-value-1': 1 })).toEqual({ '[removed]': 1 })
  })

  it('keeps them once they are no longer secret', () => {
    removeFromLogs(['expired-value', 'current-value'])
    forgetSecrets(['expired-value'])
    expect(safeText('expired-value current-value')).toBe('expired-value [removed]')
  })

  it('[F34] has known values removed in other forms: in JSON, in a URL, line by line', () => {
    removeFromLogs(['known "value" 2', `${'first-line'.repeat(3)}\n${'second-line'.repeat(3)}`])
    expect(safeText(JSON.stringify('a known "value" 2 b'))).toBe('"a [removed] b"')
    expect(safeText(`/?q=${encodeURIComponent('known "value" 2')}`)).toBe('/?q=[removed]')
    expect(safeText(`a ${'second-line'.repeat(3)} b`)).toBe('a [removed] b')
  })

  it('[F34] of many lines keeps them, and has no private key', () => {
    const text =
      'a\n-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\r\npassword: hunter2\n\u001b'
    expect(safeLines(text)).toBe('a\n[removed]\npassword: [removed]\n\\u001b')
  })

  it('[F34] of many lines has no block of YAML with a secret', () => {
    expect(safeLines('password: |\n  hunter2\n  hunter2\nuser: me')).toBe('password: [removed]\nuser: me')
  })

  it('[F34] has the values of configured names removed', () => {
    treatAsSecret(['houseCode'])
    expect(safeText('my_house_code=hunter2 house=1')).toBe('my_house_code=[removed] house=1')
    expect(safeValue({ 'HOUSE-CODE': 'hunter2', houseCodes: 1 })).toEqual({
      'HOUSE-CODE': '[removed]',
      houseCodes: 1,
    })
  })

  it.each([
    ...['password is ', 'login a password ', 'curl -b ', 'sshpass -p', 'password: |\n  ', ' is a', '-p '],
    ...['token=', 'password:[', 'password:"', '\\', 'password:\\', 'basic ', 'token=}', "token:'", 'a:'],
    ...['authorization:="', 'http://a:', ' ', 'basic a', 'password:{"', 'token=a&', 'http://a:b@', '://'],
    ...[
      '-----BEGIN PRIVATE KEY-----',
      '<a ',
      '<password>',
      '--password ',
      '["--token","',
      '[["a","',
      'sk-',
      'eyJ-',
    ],
    ...[
      'eyJaaaaaaaa.',
      '{"name":"a","value":',
      'value=',
      'xoxb-',
      '-u a:',
      '"',
      'A',
      '_KEY',
      'https://a',
      '--a ',
    ],
    ...[
      'set a ',
      'ENV A_KEY ',
      'name="a"\n\n',
      'form-data; name="password"\n\n',
      'password%3D',
      '%3D',
      '&quot;',
    ],
    ...['| ', 'a | ', 'Private-Lines: 1\n', 'jdbc:a:', 'jdbc:', '-U a%', '-U ', 'A_KEY="', "identified by '"],
    ...[
      'name: token\nvalue: b\n',
      'name: a\n',
      '?key=',
      '\t',
      'token\t',
      '  ',
      "password'",
      'password("',
      ' -> ',
    ],
    ...[
      '<meta name="a" content="',
      '<key>a</key>',
      '----BEGIN PRIVATE KEY----',
      'password:\n  ',
      'token:\\n ',
    ],
    ...[
      '"""',
      'token="""',
      'token: !a ',
      'curl -u',
      'mysql -p"',
      '--token \\"',
      '/webhook/',
      'a.atlasv1.',
      'sl.',
    ],
  ])('does not take long for 200,000 × %j', part => {
    const before = process.cpuUsage()
    safeText(`password: ${part.repeat(200_000 / part.length)}!`, Number.POSITIVE_INFINITY)
    // Of the processor, not of the clock: the machine may be busy with other things.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000)
  })
})

describe('a value', () => {
  it('shows the signature of a tool, not that of a message', () => {
    const signature = 'add(a: number, b?: number)'
    expect(safeValue({ signature })).toEqual({ signature })
    expect(safeValue({ signature: 'now()' })).toEqual({ signature: 'now()' })
    for (const secret of ['3f9a8c', 'sha256=abcdef', 'k(x)', 'MEUCIQ(D: x'])
      expect(safeValue({ signature: secret })).toEqual({ signature: '[removed]' })
    expect(safeValue({ password: signature })).toEqual({ password: '[removed]' })
  })

  it.each([
    ['{"password":"hunter2"}', '{"password":"[removed]"}'],
    [{ c: '{"password":"hunter2"}' }, { c: '{"password":"[removed]"}' }],
    [new Map([['password', 'hunter2']]), [['password', '[removed]']]],
    [new Map([['a', new Map([['token', 'hunter2']])]]), [['a', [['token', '[removed]']]]]],
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
    [JSON.parse('{"__proto__":{"token":"hunter2"}}'), { '[__proto__]': { token: '[removed]' } }],
    [{ 'token=hunter2': 1 }, { 'token=[removed]': 1 }],
    [
      { name: 'password', value: 'hunter2' },
      { name: 'password', value: '[removed]' },
    ],
    [
      { val: 'hunter2', key: 'api_key' },
      { val: '[removed]', key: 'api_key' },
    ],
    [
      { element: 'Password field', text: 'hunter2' },
      { element: 'Password field', text: '[removed]' },
    ],
    [[['token', 'hunter2']], [['token', '[removed]']]],
    [
      ['--password', 'hunter2', '--verbose'],
      ['--password', '[removed]', '--verbose'],
    ],
    [
      ['curl', '-u', 'me:hunter2', '-b', 'a=hunter2', 'http://x/'],
      ['curl', '-u', 'me:[removed]', '-b', '[removed]', 'http://x/'],
    ],
    [
      ['mysql', '-phunter2', 'db'],
      ['mysql', '-p[removed]', 'db'],
    ],
    [
      ['sshpass', '-p', 'hunter2'],
      ['sshpass', '-p', '[removed]'],
    ],
    [
      ['Host', 'x', 'Cookie', 'a=hunter2'],
      ['Host', 'x', 'Cookie', '[removed]'],
    ],
    [{ 'sk-ant-api03-hunter2hunter2': 1 }, { '[removed]': 1 }],
    [new URL('https://me:hunter2@host/'), 'https://me:[removed]@host/'],
    [
      { auth: true, pin: null, password: '' },
      { auth: true, pin: null, password: '' },
    ],
    [{ pin: 1234 }, { pin: '[removed]' }],
    [
      { type: 'token', text: 'a word' },
      { type: 'token', text: 'a word' },
    ],
    [{ required: ['token', 'name', 'user'] }, { required: ['token', 'name', 'user'] }],
    [new Error('token=hunter2'), { name: 'Error', message: 'token=[removed]' }],
    [
      { compass: 'north', max_tokens: 5 },
      { compass: 'north', max_tokens: 5 },
    ],
  ])('[F34] %# has no secret', (value, safe) => {
    expect(safeValue(value)).toEqual(safe)
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

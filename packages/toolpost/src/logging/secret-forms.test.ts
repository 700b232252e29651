import { describe, expect, it } from 'vitest'
import { forgetSecrets } from './known-secrets.ts'
import { removeFromLogs, safeLines, safeText, safeValue } from './safe-value.ts'

const KEY = 'k3Jx9QmHunter2Lw8Zt5Rv'
const HIDDEN = /hunter2/i

describe('[F34] a secret is found', () => {
  it.each([
    ...['password = "hunter2"', "token = 'hunter2'", 'api_key = """hunter2"""', 'password := "hunter2"'],
    ...['password -> hunter2', 'password → hunter2', 'password：hunter2', 'password: !!str hunter2'],
    ...['password: &anchor hunter2', "PASSWORD=$'hunter2' x", 'password:\n  - hunter2\n  - hunter2'],
    ...['passwords:\n  admin: hunter2\n  bob: hunter2', '- name: DB_PASSWORD\n  value: hunter2'],
    ...[
      'setenv SECRET_KEY hunter2',
      'ENV API_KEY hunter2',
      'aws configure set aws_secret_access_key hunter2',
    ],
    ...[
      'npm config set //r/:_authToken hunter2',
      '| password | hunter2 |',
      'password\thunter2',
      'Password is: hunter2',
    ],
  ])('in a file or a table: %j', text => {
    for (const safe of [safeText(text), safeLines(text), safeText(JSON.stringify({ text }))])
      expect(safe).not.toMatch(HIDDEN)
  })

  it.each([
    ...[
      'curl -ume:hunter2 x',
      'curl -b "session=hunter2" x',
      "mysql -p'hunter2 x' db",
      'docker login -p=hunter2 h',
    ],
    ...['kubectl --token "hunter2"', '--password "hunter2 hunter2"', '--password\\ hunter2', '--psk hunter2'],
    ...[
      'docker run -e "DB_PASSWORD=two hunter2" image',
      'openssl enc -k hunter2',
      'http -a me:hunter2 GET x',
    ],
    ...['mosquitto_pub -u me -P hunter2 -t x', 'smbclient -U me%hunter2 //h/s'],
  ])('in a command: %j', text => {
    for (const safe of [safeText(text), safeText(JSON.stringify({ text }).replace('\\\\ ', '\\ '))])
      expect(safe).not.toMatch(HIDDEN)
  })

  it.each([
    ...[
      'X-Functions-Key: hunter2',
      'connect.sid=hunter2',
      `https://h/p?key=${KEY}`,
      `https://h/p?code=${KEY}`,
    ],
    ...['https://h/?q=a%26token%3Dhunter2', '%22password%22%3A%22hunter2%22', 'password%3Dhunter2'],
    ...[
      '{&quot;password&quot;:&quot;hunter2&quot;}',
      'password&#61;hunter2',
      'jdbc:oracle:thin:me/hunter2@h:1/x',
    ],
    ...['<meta name="csrf-token" content="hunter2">', '<key>password</key><string>hunter2</string>'],
    ...['<setting name="ApiKey"><value>hunter2</value></setting>', "CREATE USER x IDENTIFIED BY 'hunter2'"],
    ...["ALTER USER x WITH PASSWORD 'hunter2'", 'setPassword("hunter2")', '{"k":"token","v":"hunter2"}'],
    ...['{"name":"password","type":"string","default":"hunter2"}', '{"name":"password","content":"hunter2"}'],
    ...['Content-Disposition: form-data; name="password"\r\n\r\nhunter2\r\n--x', 'Passwort: hunter2'],
    ...[
      '{"kind":"Secret","data":{"a":"hunter2"}}',
      'kind: Secret\ndata:\n  a: hunter2',
      '{"data":{"a":"hunter2"},"kind":"Secret"}',
    ],
    ...['{"command":"docker","args":["login","-p","hunter2"]}', '{"command":"mysql","args":["-phunter2"]}'],
    ...['mot de passe: hunter2', 'contraseña: hunter2', 'пароль: hunter2', '密码: hunter2'],
  ])('in a request, a page or a statement: %j', text => {
    for (const safe of [safeText(text), safeLines(text), safeText(JSON.stringify({ text }))])
      expect(safe).not.toMatch(HIDDEN)
  })

  it.each([
    ...[
      'csrf',
      'xsrf',
      '2fa',
      'recovery_code',
      'networkKey',
      'wifi_key',
      'subscriptionKey',
      'psk',
      'S2_AccessControl',
    ],
  ])('by its name: %s', name => expect(safeText(`{"${name}":"hunter2"}`)).not.toMatch(HIDDEN))

  it.each([
    ...[
      'glsoat-',
      'glsa_',
      'glc_eyJ',
      'dckr_pat_',
      'pscale_tkn_',
      'PMAK-',
      'NRAK-',
      'rubygems_',
      'sq0csp-',
      'tvly-',
    ],
    ...[
      'tskey-auth-',
      'vercel_',
      'nvapi-',
      'lsv2_pt_',
      'pcsk_',
      'sntrys_',
      're_',
      'ATATT3',
      'xoxe.xoxp-1-',
      '1//0ab',
    ],
    ...['https://discord.com/api/webhooks/123/', 'https://x.office.com/webhook/', 'abcdefghijklmn.atlasv1.'],
    ...[`doo_v1_${'a1'.repeat(8)}`, `sl.${'a1'.repeat(10)}`],
  ])('by its mark: %s', mark => expect(safeText(`is ${mark}${KEY} ok`)).not.toMatch(HIDDEN))

  it.each([
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nhunter2\n-----END PGP PRIVATE KEY BLOCK-----',
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nhunter2\n---- END SSH2 ENCRYPTED PRIVATE KEY ----',
    'PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\nhunter2\nPrivate-MAC: hunter2',
  ])('in a private key: %j', text => {
    for (const safe of [safeText(text), safeLines(text), safeText(JSON.stringify({ text }))])
      expect(safe).not.toMatch(HIDDEN)
  })

  it.each([
    [{ Name: 'password', Value: 'hunter2' }],
    [{ k: 'token', v: 'hunter2' }],
    [{ command: 'docker', args: ['login', '-p', 'hunter2'] }],
    [{ command: 'mysql', args: ['-phunter2'] }],
    [{ lines: ['-----BEGIN PRIVATE KEY-----', 'hunter2', 'hunter2', '-----END PRIVATE KEY-----'] }],
    [{ selector: '#password', value: 'hunter2' }],
    [{ question: 'What is your password?', answer: 'hunter2' }],
    [{ kind: 'Secret', data: { a: 'hunter2' }, stringData: { b: 'hunter2' } }],
  ])('by what stands beside it: %j', value => {
    expect(JSON.stringify(safeValue(value))).not.toMatch(HIDDEN)
  })
})

describe('[F34] a secret is found with only whitespace or a word before it', () => {
  it.each([
    ...['requirepass hunter2', 'bindpw hunter2', 'mqtt_password hunter2', 'keytool -storepass hunter2'],
    ...['USER me\r\nPASS hunter2', 'one-time password hunter2', `apikey ${KEY}`, 'WPA2 passphrase "hunter2"'],
    ...['Your verification code is: 99hunter2', 'the wifi key is hunter2', 'Passwort lautet hunter2'],
    ...['echo hunter2 | sudo -S ls', 'docker login --password-stdin <<< hunter2', 'az login -u a -p hunter2'],
    ...['mongosh -u me -p hunter2', 'pass phrase: hunter2', 'creds: me / hunter2', 'password%253Dhunter2'],
    ...[
      'password = """\nhunter2\n"""',
      `https://h/?invite_code=${KEY}`,
      'Proxy-Authorization: Digest a="b", c="hunter2"',
    ],
    ...[`https://api.telegram.org/bot123456789:AA${KEY}/send`],
  ])('%j', text => {
    for (const safe of [safeText(text), safeLines(text), safeText(JSON.stringify({ text }))])
      expect(safe).not.toMatch(HIDDEN)
  })

  it.each([
    ...[
      'api_token_v2',
      'tokenValue',
      'auth_header',
      'securityCode',
      'security_answer',
      'keyMaterial',
      'bindpw',
      'storepass',
    ],
  ])('by its name: %s', name => expect(safeValue({ [name]: 'hunter2' })).toEqual({ [name]: '[removed]' }))

  it.each([
    [{ name: 'secret', in: 'query', example: 'hunter2' }],
    [{ id: 'password', answer: 'hunter2' }],
    [{ prompt: 'Enter PIN', input: 'hunter2' }],
  ])('by what stands beside it: %j', value => {
    expect(JSON.stringify(safeValue(value))).not.toMatch(HIDDEN)
  })
})

describe('a text without a secret stays as it is', () => {
  it.each([
    ...[
      'the password sha256 hash',
      'The password must be 8 characters',
      'auth oauth2 flow',
      'PASS src/a.test.ts',
    ],
    ...[
      'bypass: true',
      'a compass rose',
      'token v2.1.0',
      'the key is under the mat',
      'zip code: 12345',
      'pin GPIO17',
    ],
    ...['signature: add(a: number): number', 'secret santa 2026', 'max_tokens: 4096', 'code 404 is returned'],
    ...['commit 3f2a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a', '550e8400-e29b-41d4-a716-446655440000'],
    ...['data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB', 'echo hello | sort', 'author is Jane'],
    ...[
      "Unexpected token 'a' in JSON at position 1",
      'call_Ab12Cd34Ef56Gh78Ij90',
      'toolu_01A09q90qw90lq917835lq9',
    ],
    ...[
      'chatcmpl-9aBcDeFgHiJkLmNoPqRsTuV',
      'the setting  was changed',
      'set volume to 40',
      'export default x',
    ],
    ...['| name | password |', '| token | required | string |', 'https://h/?code=404', 'https://h/?key=name'],
    ...['if (token) { next() }', 'this.auth->user', 'password field "name" is missing', 'ARG VERSION 5'],
    ...[
      'the session is open',
      '{"kind":"Secret garden"}',
      '{"session":"morning"}',
      'on the network: 5 nodes',
    ],
    ...[
      'GET /api/webhooks/list',
      '100%3A5',
      'note: a &amp; b',
      'tokens: 512',
      'http is ok -a',
      'a  b  c',
      'pass\tfail',
    ],
    ...['sk-ip this one, please', 'key-value', 'recovery mode', 'steps:\n  - one\n  - two', 'Key: C major'],
  ])('%s', text => expect(safeLines(text)).toBe(text.replaceAll('\t', '\\t')))
})

describe('[F34] a known secret that is a word others are found by', () => {
  const words = ['Bearer', 'password', 'author', 'p@ss w0rd: x"y', 'PRIVATE KEY', 'Cookie']

  it.each([
    ['Authorization: Bearer hunter2hunter2', 'Authorization: [removed]'],
    ['is Bearer hunter2hunter2 ok', 'is [removed] [removed] ok'],
    ['password: hunter2', '[removed]: [removed]'],
    ['{"password":"hunter2"}', '{"[removed]":"[removed]"}'],
    ['authorization: Digest hunter2', '[removed]ization: [removed]'],
    ['a p@ss w0rd: x"y b', 'a [removed] b'],
    ['password=p@ss w0rd: x"y b', '[removed]=[removed] b'],
    ['run --password hunter2 b', 'run --[removed] [removed] b'],
    ['-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----', '[removed]'],
    ['no secret, only a password', 'no secret, only a [removed]'],
  ])('hides none of them: %j', (text, safe) => {
    removeFromLogs(words)
    expect([safeText(text), safeLines(text)]).toEqual([safe, safe])
    forgetSecrets(words)
  })

  it('nor of those beside it', () => {
    removeFromLogs(words)
    const beside = [{ name: 'password', value: 'hunter2' }, ['Cookie', 'hunter2'], { password: 'hunter2' }]
    expect(JSON.stringify(safeValue(beside))).not.toMatch(/hunter2|password|cookie/i)
    forgetSecrets(words)
  })
})

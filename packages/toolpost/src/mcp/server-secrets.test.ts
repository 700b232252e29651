import { expect, it } from 'vitest'
import { secretsOf } from './server-secrets.ts'

it('[F34] finds the secrets of a command: variables, options, passwords in URLs', () => {
  const entry = {
    command: 'x',
    args: [
      '--api-key',
      'key-in-args',
      '--token=token-in-args',
      '--verbose',
      'visible',
      '--url',
      'http://me:in-the-url@host/',
    ],
    env: {
      GITHUB_TOKEN: 'gh-token',
      DATABASE_URL: 'postgres://u:p%40ssword@db/x',
      HOME_PAGE: 'http://visible/',
      PIN_TOKEN: '123',
    },
  }
  const secrets = secretsOf(entry)
  const expected = ['key-in-args', 'token-in-args', 'in-the-url', 'gh-token', 'p%40ssword', 'p@ssword']
  expect(secrets).toEqual(expect.arrayContaining(expected))
  expect(secrets.join()).not.toMatch(/visible|123/)
})

it('[F34] finds what only those know who were given an address', () => {
  const key = 'NmQ4ZjE2OTMtYjI3Yy00'
  expect(secretsOf({ url: `https://host/api/mcp/s/${key}/mcp?tenant=home` })).toEqual([key])
  expect(secretsOf({ command: 'x', args: ['https://only-token@host/?api_key=in-the-query'] })).toEqual(
    expect.arrayContaining(['only-token', 'in-the-query']),
  )
})

it('[F34] finds the secrets of an address: headers and its password', () => {
  const headers = { Authorization: 'Bearer abc-def-ghi', 'X-Api-Key': 'my-key-1', Accept: 'text/plain' }
  expect(secretsOf({ url: 'https://me:url-password@host/', headers })).toEqual([
    Buffer.from('me:url-password').toString('base64'),
    'Bearer abc-def-ghi',
    'url-password',
    'abc-def-ghi',
    'my-key-1',
  ])
})

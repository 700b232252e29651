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
  expect(secretsOf(entry).sort()).toEqual(
    ['key-in-args', 'token-in-args', 'in-the-url', 'gh-token', 'p%40ssword', 'p@ssword'].sort(),
  )
})

it('[F34] finds the secrets of an address: headers and its password', () => {
  const headers = { Authorization: 'Bearer abc-def-ghi', 'X-Api-Key': 'my-key-1', Accept: 'text/plain' }
  expect(secretsOf({ url: 'https://me:url-password@host/', headers })).toEqual([
    'Bearer abc-def-ghi',
    'url-password',
    'abc-def-ghi',
    'my-key-1',
  ])
})

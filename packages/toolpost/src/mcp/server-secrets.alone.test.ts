import { expect, it } from 'vitest'
import { secretsOf } from './server-secrets.ts'

it('[F34] finds the secrets of a command: variables, options, passwords in URLs', () => {
  const options = ['--api-key', 'key-in-args', '--token=token-in-args', '--verbose', 'visible']
  const urls = ['--url', 'http://me:in-the-url@host/', 'https://only-token@host/?api_key=in-the-query']
  const env = {
    GITHUB_TOKEN: 'gh-token',
    DATABASE_URL: 'postgres://u:p%40ssword@db/x',
    HOME_PAGE: 'http://visible/',
    PIN_TOKEN: '123',
  }
  const secrets = secretsOf({ command: 'x', args: [...options, ...urls], env })
  const inArgs = ['key-in-args', 'token-in-args', 'in-the-url', 'only-token', 'in-the-query']
  expect(secrets).toEqual(expect.arrayContaining([...inArgs, 'gh-token', 'p%40ssword', 'p@ssword']))
  expect(secrets.join()).not.toMatch(/visible|123/)
})

it('[F34] finds the secrets of an address: headers, its password and what only those know who were given it', () => {
  const headers = { Authorization: 'Bearer abc-def-ghi', 'X-Api-Key': 'my-key-1', Accept: 'text/plain' }
  const found = ['Bearer abc-def-ghi', 'url-password', 'abc-def-ghi', 'my-key-1']
  expect(secretsOf({ url: 'https://me:url-password@host/', headers }).slice(1)).toEqual(found)
  const key = 'NmQ4ZjE2OTMtYjI3Yy00'
  expect(secretsOf({ url: `https://host/api/mcp/s/${key}/mcp?tenant=home` })).toEqual([key])
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../logging/logger.ts'
import { openProject } from './open-project.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolpost-oauth-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function open(lines: readonly string[]) {
  const file = join(folder, 'toolpost.json')
  writeFileSync(file, `{ "gateway": { "oauth": {\n${lines.join(',\n')}\n} } }`)
  const project = await openProject({ file, logger: () => silentLogger, say: () => {} })
  await project.close()
  return project.config.gateway?.oauth
}

const issuer = '"issuer": "https://login.example.com"'
const audience = '"audience": "https://tools.example.com/mcp"'

describe('gateway.oauth in toolpost.json', () => {
  it('is taken as it is, with the environment filled in', async () => {
    vi.stubEnv('TEST_ISSUER', 'https://login.example.com/realms/home')
    const scopes = '"scopes": { "tools:read": ["get_*"] }'
    expect(await open(['"issuer": "${TEST_ISSUER}"', audience, scopes])).toEqual({
      issuer: 'https://login.example.com/realms/home',
      audience: 'https://tools.example.com/mcp',
      scopes: { 'tools:read': ['get_*'] },
    })
    vi.unstubAllEnvs()
  })

  it.each([
    [[issuer], '1:25', "missing 'gateway.oauth.audience'"],
    [['"issuer": "http://login.example.com"', audience], '2:11', 'must begin with https://'],
    [['"issuer": "${NOT_SET_AT_ALL}"', audience], '2:11', 'NOT_SET_AT_ALL is not set'],
    [[issuer, audience, '"scopes": { "a b": ["*"] }'], '4:20', 'a scope consists of printable ASCII'],
    [[issuer, audience, '"scopes": { "a": ["*", "{x}"] }'], '4:24', "invalid pattern '{x}'"],
    [[issuer, audience, '"secret": "x"'], '4:', 'secret'],
  ])('says where a mistake is: %j', async (lines, position, problem) => {
    const failed = await open(lines).catch((error: Error) => error.message)
    expect(failed).toContain(`toolpost.json:${position}`)
    expect(failed).toContain(problem)
  })
})

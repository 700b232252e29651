import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { as, messageIn, newestRequest } from '../../test/gateway.ts'
import { type Harness, startServers } from '../../test/hostile-server/harness.ts'
import { type AnyClient, CLIENTS } from '../../test/mcp-clients.ts'
import { offeringServer } from '../mcp/test-servers/offering.ts'
import { type ServedGateway, serveGateway } from './serve-gateway.ts'

const ADA = 'ada-token-0123456789'
const BOB = 'bob-token-0123456789'
const OWN = 'own-token-0123456789'
const clients = {
  /** One server, and of the other what is public. */
  ada: {
    token: ADA,
    tools: ['docs__*', 'state', 'notify', 'ask', 'hold', 'release'],
    resources: ['docs__*', 'file:///public/*'],
    prompts: ['docs__*'],
  },
  /** Tools only: everything that is not named is not theirs. */
  bob: { token: BOB, tools: ['state', 'notify', 'ask', 'hold', 'release', 'secret__*'] },
}

let harness: Harness
let gateway: ServedGateway
beforeAll(async () => {
  harness = await startServers({
    secret: offeringServer({
      name: 'secret',
      instructions: 'Secret ways.',
      resources: [
        { uri: 'file:///private/key', name: 'Key' },
        { uri: 'file:///public/page', name: 'Page' },
      ],
      templates: [{ uriTemplate: 'file:///{+path}', name: 'Any file' }],
      prompts: [{ name: 'plan' }, { name: 'docs__plan' }],
    }),
    docs: offeringServer({
      name: 'docs',
      instructions: 'Read the docs.',
      resources: [{ uri: 'doc:///a', name: 'A' }],
      templates: [{ uriTemplate: 'doc:///{id}', name: 'Docs' }],
      prompts: [{ name: 'explain' }],
    }),
  })
  const { executor, mcp, log } = harness
  gateway = await serveGateway({ port: 0, executor, mcp, clients, token: OWN, logger: log })
})
afterAll(async () => {
  await gateway.close({ drainMs: 0 })
  await harness.mcp.close()
})

const of = <T>(list: T[], key: keyof T) => list.map(each => each[key])
const person = () => ({ action: 'accept', content: {} })

describe.each(CLIENTS)('a client of the configuration, of the %s', (_, connect) => {
  let ada: AnyClient
  let bob: AnyClient
  let owner: AnyClient
  beforeAll(async () => {
    ada = await connect({ url: gateway.url }, { token: ADA, person })
    bob = await connect({ url: gateway.url }, { token: BOB, person })
    owner = await connect({ url: gateway.url }, { token: OWN, person })
  })
  afterAll(async () => {
    for (const each of [ada, bob, owner]) await each[Symbol.asyncDispose]()
  })

  it('lists what it may, and nothing else', async () => {
    expect(of(await ada.resources(), 'uri')).toEqual(['file:///public/page', 'doc:///a'])
    expect(of(await ada.templates(), 'uriTemplate')).toEqual(['doc:///{id}'])
    expect(of(await ada.prompts(), 'name')).toEqual(['explain'])
    expect([await bob.resources(), await bob.templates(), await bob.prompts()]).toEqual([[], [], []])
    expect(await owner.resources()).toHaveLength(3)
    expect(await owner.prompts()).toHaveLength(3)
  })

  it.each([
    ...['file:///private/key', 'secret+file:///private/key', 'file:///private/unlisted'],
    ...['file:///public/../private/key', 'secret+file:///public/../private/key', 'file:///public/x/..?'],
    ...['file:///public/%2e%2e/private/key', 'file:///public/%252e%252e/private/key'],
    ...['file:///public/..%2fprivate/key', 'file:///public/%2e%2e%5cprivate/key'],
    ...['file:///public/..\\private\\key', 'file:///public/.\t./private/key', 'file:///public/..;/private'],
  ])('cannot read %s, and is not told that it is there', async uri => {
    await expect(ada.read(uri)).rejects.toThrow('Resource not found')
    await expect(bob.read(uri)).rejects.toThrow('Resource not found')
    await expect(ada.complete({ type: 'ref/resource', uri }, 'path', 'x')).rejects.toThrow('not found')
  })

  it('reads, completes and gets what it may, even what is not listed', async () => {
    expect((await ada.read('file:///public/other')).contents[0].text).toBe('secret file:///public/other')
    expect((await ada.read('docs+doc:///b')).contents[0].text).toBe('docs doc:///b')
    expect((await ada.prompt('explain')).messages).toHaveLength(1)
    expect(await ada.complete({ type: 'ref/resource', uri: 'doc:///{id}' }, 'id', 'x')).toEqual([
      'docs:doc:///{id}:x',
    ])
    for (const name of ['plan', 'secret__plan', 'docs__plan']) {
      await expect(ada.prompt(name)).rejects.toThrow('not found')
      await expect(ada.complete({ type: 'ref/prompt', name }, 'a', '')).rejects.toThrow('not found')
      await expect(bob.prompt(name)).rejects.toThrow('not found')
    }
    await expect(ada.complete({ type: 'ref/resource', uri: 'file:///{+path}' }, 'path', '')).rejects.toThrow(
      'not found',
    )
  })
})

describe('a session, or a question that is open', () => {
  it('of the newest protocol is answered by its own client only, and once', async () => {
    const call = async (token: string, more = {}) => {
      const params = { name: 'ask', arguments: {}, ...more }
      const { body, headers } = newestRequest('tools/call', params, { elicitation: { form: {} } })
      const init = { method: 'POST', headers: { ...headers, ...as(token) }, body: JSON.stringify(body) }
      return messageIn(await fetch(`${gateway.url}mcp`, init))
    }
    const isRefused = async (...asked: Parameters<typeof call>) =>
      expect((await call(...asked)).error.message).toContain('no longer open')
    const { result } = await call(ADA)
    expect(result).toMatchObject({ resultType: 'input_required' })
    const { requestState, inputRequests } = result
    const [key = ''] = Object.keys(inputRequests)
    const answer = { requestState, inputResponses: { [key]: { action: 'accept', content: {} } } }
    await isRefused(BOB, answer)
    await isRefused(OWN, answer)
    await isRefused(ADA, { ...answer, arguments: { message: 'other' } })
    await isRefused(ADA, { ...answer, requestState: `${requestState}x` })
    const { result: done } = await call(ADA, answer)
    expect(JSON.parse(done.content[0].text)).toMatchObject({ answered: { action: 'accept' } })
    await isRefused(ADA, answer)
  })
})

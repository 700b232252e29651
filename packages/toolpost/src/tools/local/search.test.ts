import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type SearchOptions, webSearch } from './search.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

type Handler = (request: IncomingMessage, response: ServerResponse) => void

async function serve(handler: Handler): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const serveJson = (body: unknown, status = 200) =>
  serve((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/x-javascript' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })

const search = (options: SearchOptions, query: string) => webSearch(options)({ query })

const abstract = 'Tokyo Tower is a communications tower in Minato.'
const wikipedia = 'https://en.wikipedia.org/wiki/Tokyo_Tower'
const tokyoTower = {
  ...{ Heading: 'Tokyo Tower', Answer: '', AbstractText: abstract, AbstractURL: wikipedia },
  Results: [{ FirstURL: 'https://x.jp', Result: '<a href="x">Official site</a>', Text: 'Official site' }],
  RelatedTopics: [
    { FirstURL: 'https://ddg/Skytree', Result: '<a href="y">Skytree</a> A', Text: 'Skytree A <b>tower</b>.' },
    { Name: 'Films', Topics: [{ FirstURL: 'https://ddg/Film', Text: 'Tokyo Tower (film) - A 2005 film' }] },
    { FirstURL: 'https://ddg/Skytree', Text: 'the same again' },
    ...[null, 'odd'],
  ],
}

describe('search with DuckDuckGo', () => {
  it('gives the abstract as the answer, and results from all parts of what it was told', async () => {
    const result = await search({ duckDuckGo: await serveJson(tokyoTower) }, 'tokyo tower')
    expect(result).toEqual({
      query: 'tokyo tower',
      source: 'DuckDuckGo',
      answer: abstract,
      results: [
        { title: 'Tokyo Tower', url: wikipedia, text: abstract },
        { title: 'Official site', url: 'https://x.jp', text: 'Official site' },
        { title: 'Skytree', url: 'https://ddg/Skytree', text: 'Skytree A tower.' },
        { title: 'Tokyo Tower (film)', url: 'https://ddg/Film', text: 'Tokyo Tower (film) - A 2005 film' },
      ],
    })
  })

  it('says in words that nothing was found', async () => {
    const address = await serveJson({ Answer: '', AbstractText: '', Results: [], RelatedTopics: [] })
    const text = expect.stringMatching(
      /^Nothing was found for "qqzx"\. DuckDuckGo's instant answers know facts/,
    )
    expect(await search({ duckDuckGo: address }, 'qqzx')).toMatchObject({ results: [], text })
  })

  it.each(['', '<html>Sign in to the hotel network</html>', '[1, 2]'])(
    'refuses an answer that is %j',
    async body => {
      const answer = search({ duckDuckGo: await serveJson(body) }, 'x')
      await expect(answer).rejects.toThrow(/^DuckDuckGo returned .* instead of JSON/)
    },
  )
})

describe('search with SearXNG', () => {
  const answer = {
    results: [
      { title: 'Node.js &amp; you', url: 'https://nodejs.org', content: 'A <b>runtime</b>.' },
      { title: 'No address', content: 'left out' },
    ],
  }

  it('asks the configured instance, below its path, with the credentials of its address, and strips HTML', async () => {
    const paths: (string | undefined)[] = []
    const credentials: (string | undefined)[] = []
    const address = await serve((request, response) => {
      paths.push(request.url)
      credentials.push(request.headers.authorization)
      response.end(JSON.stringify(answer))
    })
    for (const path of ['', '/', '/searx/', '/search']) {
      const result = await search({ searxng: address + path }, 'node js')
      expect(result).toEqual({
        query: 'node js',
        source: 'SearXNG',
        results: [{ title: 'Node.js & you', url: 'https://nodejs.org', text: 'A runtime.' }],
        text: 'Node.js & you: A runtime.',
      })
    }
    const query = '?q=node+js&format=json'
    expect(paths).toEqual([`/search${query}`, `/search${query}`, `/searx/search${query}`, `/search${query}`])
    await search({ searxng: address.replace('http://', 'http://me:p%40ss@') }, 'x')
    expect(credentials.at(-1)).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`)
  })

  it.each(['localhost:8888', 'not an address', 'file:///etc/passwd'])('refuses the address %j', address => {
    expect(() => webSearch({ searxng: address })).toThrow(`'${address}' is not a valid search service URL`)
  })
})

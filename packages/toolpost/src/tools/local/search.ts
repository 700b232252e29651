import { packageJson } from '../../util/package-root.ts'
import { basicCredentials } from '../../util/text.ts'

export interface SearchOptions {
  /** URL of a SearXNG instance; DuckDuckGo's instant answers if left out. */
  searxng?: string | undefined
  /** Another URL for DuckDuckGo's API. */
  duckDuckGo?: string
}

/** A web search that answers in JSON, as in `data/search-services.json`. */
interface SearchService {
  name: string
  parameters: Record<string, string>
  /** What to do about an HTTP status. */
  advice: Readonly<Record<string, string>>
  /** JMESPath: texts that answer the question, and hits with `title`, `url` and `text`. */
  answers: string
  hits: string
  /** Why there may be fewer results than expected. */
  note?: string
}

/** The tool `search`: web search through SearXNG if configured, otherwise DuckDuckGo's instant answers. */
export function webSearch({ searxng, duckDuckGo = 'https://api.duckduckgo.com/' }: SearchOptions = {}) {
  const address = searxng ?? duckDuckGo
  if (!/^https?:/.test(address) || !URL.canParse(address))
    throw new Error(`'${address}' is not a valid search service URL; expected one like http://localhost:8888`)
  const url = new URL(address)
  // With or without `/search` at its end.
  if (searxng) url.pathname = `${url.pathname.replace(/\/(?:search)?$/, '')}/search`
  return async (
    { query, limit = 5 }: { query: string; limit?: number },
    { signal }: { signal?: AbortSignal } = {},
  ) => {
    const services = packageJson('data/search-services.json')
    const service: SearchService = searxng ? services.searxng : services.duckDuckGo
    const { search } = await import('@jmespath-community/jmespath')
    const found = await ask(service, new URL(url), query, signal)
    const read = (expression: string) => [search(found as never, expression) ?? []].flat() as unknown[]
    const answer = read(service.answers).map(plainText).find(Boolean)
    const hits = (read(service.hits) as Record<string, unknown>[]).map(hit => {
      const text = plainText(hit.text)
      // `<a href="…">Title</a> text`
      const title = plainText(/<a [^<>]*>([^<]+)<\/a>/i.exec(String(hit.title))?.[1] ?? hit.title)
      return { title: title || text.replace(/ - .*/, ''), url: plainText(hit.url), text }
    })
    const isNew = (hit: (typeof hits)[number], at: number) =>
      hit.url !== '' && hits.findIndex(({ url }) => url === hit.url) === at
    const results = hits.filter(isNew).slice(0, limit)
    const shared = { query, source: service.name, results }
    if (answer !== undefined) return { ...shared, answer }
    const [best] = results
    if (best) return { ...shared, text: best.text ? `${best.title}: ${best.text}` : best.title }
    return { ...shared, text: `Nothing was found for "${query}". ${service.note ?? ''}`.trim() }
  }
}

async function ask(service: SearchService, url: URL, query: string, signal: AbortSignal | null = null) {
  const { name, advice, parameters } = service
  for (const [key, value] of Object.entries({ q: query, ...parameters })) url.searchParams.set(key, value)
  const { username, password } = url
  // fetch refuses a URL that contains a password, and prints it: it becomes a header.
  const login = username || password ? { authorization: `Basic ${basicCredentials(username, password)}` } : {}
  url.username = ''
  url.password = ''
  const response = await fetch(url, { headers: { accept: 'application/json', ...login }, signal })
  const { status } = response
  const body = (await response.text()).trim()
  const problem = `${name} answered with HTTP ${status}: ${advice[status] ?? 'try again later'}`
  // `status` lets the executor distinguish a service that is down (502 to 504) from one that refuses.
  if (status >= 400) throw Object.assign(new Error(problem), { status })
  if (body.startsWith('{') && body.endsWith('}')) return JSON.parse(body) as unknown
  const start = body ? `'${body.slice(0, 40)}…'` : 'nothing'
  throw new Error(`${name} returned ${start} instead of JSON; is ${url.origin} the right URL?`)
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Text on one line, without tags and entities; empty for anything but a string. */
function plainText(html: unknown): string {
  if (typeof html !== 'string') return ''
  return html
    .replace(/<\/?[a-z!][^<>]*>/gi, ' ')
    .replace(/&(#?\w{2,4});/g, (entity, name) => ENTITIES[name] ?? entity)
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,;:!?)])/g, '')
    .trim()
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../util/guards.ts'
import { packageRoot } from '../../util/package-root.ts'
import { basicCredentials } from '../../util/text.ts'

export interface SearchOptions {
  /** URL of a SearXNG instance; DuckDuckGo's instant answers if left out. */
  searxng?: string | undefined
  /** Another URL for DuckDuckGo's API. */
  duckDuckGo?: string
}

interface SearchHit {
  title: string
  url: string
  text: string
}

interface SearchAnswer {
  query: string
  source: string
  answer?: string
  results: SearchHit[]
  /** What to say if there is no `answer`: the first result, or that nothing was found. */
  text?: string
}

type JsonObject = Record<string, unknown>

/** A web search that answers in JSON, as in `data/search-services.json`. */
interface SearchService {
  name: string
  parameters: Record<string, string>
  /** What to do about an HTTP status. */
  advice: Readonly<Record<string, string>>
  /** Why there may be fewer results than expected. */
  note?: string
}

/** What a service found, in its own order; malformed fields count as absent. */
interface Found {
  answers: string[]
  hits: SearchHit[]
  note?: string | undefined
}

const DEFAULT_LIMIT = 5

/** The tool `search`: web search through SearXNG if configured, otherwise DuckDuckGo's instant answers. */
export function webSearch({ searxng, duckDuckGo = 'https://api.duckduckgo.com/' }: SearchOptions = {}) {
  const url = httpUrl(searxng ?? duckDuckGo)
  // With or without `/search` at its end.
  if (searxng) url.pathname = `${url.pathname.replace(/\/(?:search)?$/, '')}/search`
  return async (
    { query, limit = DEFAULT_LIMIT }: { query: string; limit?: number },
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<SearchAnswer> => {
    const services = JSON.parse(readFileSync(join(packageRoot(), 'data', 'search-services.json'), 'utf8'))
    const service: SearchService = searxng ? services.searxng : services.duckDuckGo
    const read = searxng ? readSearxng : readDuckDuckGo
    const { answers, hits, note = service.note ?? '' } = read(await ask(service, new URL(url), query, signal))
    // Results with a URL, each URL once.
    const byUrl = new Map(hits.toReversed().map(hit => [hit.url, hit]))
    const results = hits.filter(hit => hit.url && byUrl.get(hit.url) === hit).slice(0, limit)
    const found = { query, source: service.name, results }
    const answer = answers.find(text => text !== '')
    if (answer !== undefined) return { ...found, answer }
    const [best] = results
    if (best) return { ...found, text: best.text ? `${best.title}: ${best.text}` : best.title }
    return { ...found, text: `Nothing was found for "${query}". ${note}`.trim() }
  }
}

function readSearxng({ answers, infoboxes, results, unresponsive_engines }: JsonObject): Found {
  const silent = list(unresponsive_engines).map(engine => plainText(list(engine).join(': ')))
  return {
    answers: [
      ...list(answers).map(entry => plainText(isRecord(entry) ? entry.answer : entry)),
      ...objects(infoboxes).map(box => plainText(box.content)),
    ],
    hits: objects(results).map(({ title, url, content }) => hit(title, url, content)),
    note: silent.length > 0 ? `These engines did not answer: ${silent.join(', ')}.` : undefined,
  }
}

/** Facts and topics, not the whole web. */
function readDuckDuckGo(found: JsonObject): Found {
  const { Answer, AbstractText, Definition, Heading, AbstractURL, DefinitionURL } = found
  const topics = objects(found.RelatedTopics).flatMap(topic => [topic, ...objects(topic.Topics)])
  const topicHits = [...objects(found.Results), ...topics].map(({ FirstURL, Result, Text }) => {
    // `Result` is `<a href="…">Title</a> text`, and `Text` is its full text.
    const link = /<a [^<>]*>([^<]+)<\/a>/i.exec(String(Result))?.[1]
    return hit(link ?? String(Text ?? '').split(' - ')[0], FirstURL, Text)
  })
  return {
    answers: [Answer, AbstractText, Definition].map(plainText),
    hits: [hit(Heading, AbstractURL, AbstractText), hit(Heading, DefinitionURL, Definition), ...topicHits],
  }
}

function hit(title: unknown, url: unknown, text: unknown): SearchHit {
  return { title: plainText(title), url: typeof url === 'string' ? url : '', text: plainText(text) }
}

function httpUrl(address: string): URL {
  if (/^https?:/.test(address) && URL.canParse(address)) return new URL(address)
  throw new Error(`'${address}' is not a valid search service URL; expected one like http://localhost:8888`)
}

async function ask(
  { name, advice, parameters }: SearchService,
  url: URL,
  query: string,
  signal = new AbortController().signal,
): Promise<JsonObject> {
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
  if (body.startsWith('{') && body.endsWith('}')) return JSON.parse(body)
  const start = body ? `'${body.slice(0, 40)}…'` : 'nothing'
  throw new Error(`${name} returned ${start} instead of JSON; is ${url.origin} the right URL?`)
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

/** Text on one line, without tags and entities; empty for anything but a string. */
function plainText(html: unknown): string {
  if (typeof html !== 'string') return ''
  return html
    .replace(/<\/?[a-z!][^<>]*>/gi, ' ')
    .replace(/&#(\d{1,5});/g, (_, digits) => String.fromCodePoint(Number(digits)))
    .replace(/&(\w{2,4});/g, (entity, name) => ENTITIES[name] ?? entity)
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,;:!?)])/g, '')
    .trim()
}

function objects(value: unknown): JsonObject[] {
  return list(value).filter(isRecord)
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

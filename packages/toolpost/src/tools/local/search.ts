import { isRecord } from '../../util/guards.ts'
import { basicCredentials } from '../../util/uri-decoded.ts'

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

/** A web search that answers in JSON. */
interface SearchService {
  readonly name: string
  url: URL
  parameters: Record<string, string>
  /** What it found, in its own order; malformed fields count as absent. `note`: why there may be fewer than expected. */
  read(answer: JsonObject): { answers: string[]; hits: SearchHit[]; note?: string }
  /** What to do about an HTTP status, if known. */
  advice: Readonly<Record<number, string>>
}

const DEFAULT_LIMIT = 5

/** The tool `search`: web search through SearXNG if configured, otherwise DuckDuckGo's instant answers. */
export function webSearch(options: SearchOptions = {}) {
  const service = options.searxng
    ? searxng(httpUrl(options.searxng))
    : duckDuckGo(httpUrl(options.duckDuckGo ?? 'https://api.duckduckgo.com/'))
  return async (
    { query, limit = DEFAULT_LIMIT }: { query: string; limit?: number },
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<SearchAnswer> => {
    const { answers, hits, note } = service.read(await ask(service, query, signal))
    // Results with a URL, each URL once.
    const isNew = ({ url }: SearchHit, at: number) =>
      url !== '' && hits.findIndex(other => other.url === url) === at
    const results = hits.filter(isNew).slice(0, limit)
    const found = { query, source: service.name, results }
    const answer = answers.find(text => text !== '')
    if (answer !== undefined) return { ...found, answer }
    const [best] = results
    if (best) return { ...found, text: best.text ? `${best.title}: ${best.text}` : best.title }
    return { ...found, text: `Nothing was found for "${query}".${note ? ` ${note}` : ''}` }
  }
}

/** A SearXNG instance at the given URL, with or without `/search` at its end. */
function searxng(url: URL): SearchService {
  url.pathname = `${url.pathname.replace(/\/(?:search)?$/, '')}/search`
  return {
    name: 'SearXNG',
    url,
    parameters: { format: 'json' },
    read: answer => {
      const silent = list(answer.unresponsive_engines).map(engine => plainText(list(engine).join(': ')))
      return {
        answers: [
          ...list(answer.answers).map(entry => plainText(isRecord(entry) ? entry.answer : entry)),
          ...objects(answer.infoboxes).map(box => plainText(box.content)),
        ],
        hits: objects(answer.results).map(({ title, url, content }) => hit(title, url, content)),
        ...(silent.length > 0 && { note: `These engines did not answer: ${silent.join(', ')}.` }),
      }
    },
    advice: {
      401: 'put the user and password in its URL: http://user:password@host',
      403: 'its JSON format is disabled: add json to search.formats in settings.yml',
      404: 'check its URL, search.searxng in the configuration',
      429: 'its limiter refused this program: allow it in its limiter.toml',
    },
  }
}

/** DuckDuckGo's instant answers: facts and topics, not the whole web. */
function duckDuckGo(url: URL): SearchService {
  const tooOften = 'rate limit reached: wait a moment, or set search.searxng in the configuration'
  return {
    name: 'DuckDuckGo',
    url,
    // no_redirect: a query such as `!w Tokyo` would otherwise redirect to another site, which does not return JSON.
    parameters: { format: 'json', no_html: '1', skip_disambig: '1', no_redirect: '1' },
    read: ({ Answer, AbstractText, Abstract, Definition, Heading, AbstractURL, DefinitionURL, ...more }) => {
      const abstract = plainText(AbstractText) || plainText(Abstract)
      const topics = objects(more.RelatedTopics).flatMap(topic => [topic, ...objects(topic.Topics)])
      return {
        answers: [plainText(Answer), abstract, plainText(Definition)],
        hits: [
          hit(Heading, AbstractURL, abstract),
          hit(Heading, DefinitionURL, Definition),
          ...[...objects(more.Results), ...topics].map(topicHit),
        ],
        note: "DuckDuckGo's instant answers know facts and topics; for full web search, set search.searxng in the configuration.",
      }
    },
    advice: { 403: tooOften, 429: tooOften },
  }
}

/** `Result` is `<a href="…">Title</a> text`, and `Text` is its full text. */
function topicHit({ FirstURL, Result, Text }: JsonObject): SearchHit {
  const link = typeof Result === 'string' ? /<a [^<>]*>([^<]+)<\/a>/i.exec(Result)?.[1] : undefined
  return hit(link ?? (typeof Text === 'string' ? Text.split(' - ')[0] : ''), FirstURL, Text)
}

function hit(title: unknown, url: unknown, text: unknown): SearchHit {
  return { title: plainText(title), url: typeof url === 'string' ? url : '', text: plainText(text) }
}

function httpUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Error(`'${address}' is not a valid search service URL; expected one like http://localhost:8888`)
}

async function ask(service: SearchService, query: string, signal?: AbortSignal): Promise<JsonObject> {
  const { name, advice, parameters } = service
  const url = new URL(service.url)
  for (const [key, value] of Object.entries({ q: query, ...parameters })) url.searchParams.set(key, value)
  const { username, password } = url
  // fetch refuses a URL that contains a password, and prints it: it becomes a header.
  const login = username || password ? `Basic ${basicCredentials(username, password)}` : undefined
  url.username = ''
  url.password = ''
  const headers = { accept: 'application/json', ...(login && { authorization: login }) }
  const response = await fetch(url, { headers, signal: signal ?? null })
  const { status } = response
  const body = (await response.text()).trim()
  if (status >= 400) {
    const message = `${name} answered with HTTP ${status}${advice[status] ? `: ${advice[status]}` : '; try again later'}`
    // `status` lets the executor distinguish a service that is down (502 to 504) from one that refuses.
    throw Object.assign(new Error(message), { status })
  }
  try {
    const answer: unknown = JSON.parse(body)
    if (isRecord(answer)) return answer
  } catch {
    // Said below.
  }
  const start = body ? `'${body.slice(0, 40)}…'` : 'nothing'
  throw new Error(`${name} returned ${start} instead of JSON; is ${url.origin} the right URL?`)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&nbsp;': ' ',
}

/** Text on one line, without tags and entities; empty for anything but a string. */
function plainText(html: unknown): string {
  if (typeof html !== 'string') return ''
  return html
    .replace(/<\/?[a-z!][^<>]*>/gi, ' ')
    .replace(/&#(x?)([\da-f]{1,5});/gi, (_, hex, digits) =>
      String.fromCodePoint(Number.parseInt(digits, hex ? 16 : 10) || 32),
    )
    .replace(/&\w{2,4};/g, entity => ENTITIES[entity] ?? entity)
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

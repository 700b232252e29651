import { isRecord } from '../../runtime/guards.ts'
import { trimmedEnd } from '../../runtime/trimmed-end.ts'
import { plainText } from './plain-text.ts'

export interface SearchHit {
  title: string
  url: string
  text: string
}

/** What a service found, in its own order and without a limit. */
export interface Findings {
  answer?: string
  hits: SearchHit[]
  /** Why there may be fewer results than expected. */
  note?: string
}

/** A web search that answers in JSON. */
export interface SearchService {
  readonly name: string
  url(query: string): URL
  /** Reads the service's response; malformed fields count as absent. */
  read(answer: JsonObject): Findings
  /** What to do about an HTTP status, if known. */
  advice(status: number): string | undefined
}

export type JsonObject = Record<string, unknown>

/** A SearXNG instance at the given URL, with or without `/search` at its end; throws on an invalid URL. */
export function searxng(address: string): SearchService {
  const base = httpUrl(address)
  base.pathname = `${trimmedEnd(base.pathname, '/').replace(/\/search$/, '')}/search`
  return {
    name: 'SearXNG',
    url: query => withParameters(base, { q: query, format: 'json' }),
    read: readSearxng,
    advice: status => {
      if (status === 401) return 'put the user and password in its URL: http://user:password@host'
      if (status === 403) return 'its JSON format is disabled: add json to search.formats in settings.yml'
      if (status === 404) return 'check its URL, search.searxng in the configuration'
      return status === 429 ? 'its limiter refused this program: allow it in its limiter.toml' : undefined
    },
  }
}

/** DuckDuckGo's instant answers: facts and topics, not the whole web. */
export function duckDuckGo(address: string): SearchService {
  const base = httpUrl(address)
  // no_redirect: a query such as `!w Tokyo` would otherwise redirect to another site, which does not return JSON.
  const fixed = { format: 'json', no_html: '1', skip_disambig: '1', no_redirect: '1' }
  return {
    name: 'DuckDuckGo',
    url: query => withParameters(base, { q: query, ...fixed }),
    read: readDuckDuckGo,
    advice: status =>
      status === 429 || status === 403
        ? 'rate limit reached: wait a moment, or set search.searxng in the configuration'
        : undefined,
  }
}

function httpUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Error(`'${address}' is not a valid search service URL; expected one like http://localhost:8888`)
}

function withParameters(base: URL, parameters: Record<string, string>): URL {
  const url = new URL(base)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

function readSearxng(answer: JsonObject): Findings {
  const answers = list(answer.answers).map(entry => plainText(isRecord(entry) ? entry.answer : entry))
  const results = objects(answer.results).map(({ title, url, content }) => hit(title, url, content))
  const infoboxes = objects(answer.infoboxes).map(box => plainText(box.content))
  const silent = list(answer.unresponsive_engines).map(engine => plainText(list(engine).join(': ')))
  return {
    ...answerOf([...answers, ...infoboxes]),
    hits: results,
    ...(silent.length > 0 ? { note: `These engines did not answer: ${silent.join(', ')}.` } : {}),
  }
}

function readDuckDuckGo(answer: JsonObject): Findings {
  const { Answer, AbstractText, Abstract, Definition, Heading, AbstractURL, DefinitionURL } = answer
  const abstract = plainText(AbstractText) || plainText(Abstract)
  const topics = objects(answer.RelatedTopics).flatMap(topic => [topic, ...objects(topic.Topics)])
  return {
    ...answerOf([plainText(Answer), abstract, plainText(Definition)]),
    hits: [
      hit(Heading, AbstractURL, abstract),
      hit(Heading, DefinitionURL, Definition),
      ...[...objects(answer.Results), ...topics].map(topicHit),
    ],
    note: "DuckDuckGo's instant answers know facts and topics; for full web search, set search.searxng in the configuration.",
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

function answerOf(texts: readonly string[]): { answer?: string } {
  const found = texts.find(text => text !== '')
  return found === undefined ? {} : { answer: found }
}

function objects(value: unknown): JsonObject[] {
  return list(value).filter(isRecord)
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

import { isRecord } from '../../runtime/guards.ts'
import { basicCredentials } from '../../runtime/uri-decoded.ts'
import { defineTool, type InvokeOptions, type Tool } from '../tool.ts'
import {
  duckDuckGo,
  type Findings,
  type JsonObject,
  type SearchHit,
  type SearchService,
  searxng,
} from './search-services.ts'

export interface SearchOptions {
  /** URL of a SearXNG instance; DuckDuckGo's instant answers if left out. */
  searxng?: string | undefined
  /** Another URL for DuckDuckGo's API. */
  duckDuckGo?: string
  fetch?: typeof globalThis.fetch
}

interface SearchArgs {
  query: string
  limit?: number
}

interface SearchResult {
  query: string
  source: string
  answer?: string
  results: SearchHit[]
  /** What to say if there is no `answer`: the first result, or that nothing was found. */
  text?: string
}

const DEFAULT_LIMIT = 5

const schema = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      minLength: 1,
      description: 'What to search for: a few keywords or a short question',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 10,
      description: `The most results to return (default ${DEFAULT_LIMIT})`,
    },
  },
  required: ['query'],
  additionalProperties: false,
}

/** The tool `search`: web search through SearXNG if configured, otherwise DuckDuckGo's instant answers. */
export function searchTool(options: SearchOptions = {}): Tool {
  const service = options.searxng
    ? searxng(options.searxng)
    : duckDuckGo(options.duckDuckGo ?? 'https://api.duckduckgo.com/')
  return defineTool<SearchArgs>({
    name: 'search',
    description:
      'Searches the web and returns a direct answer if there is one, and results with title, URL and a short text. Use it for facts, people, places and events that you do not know or that may have changed. Not for private notes or documents.',
    schema,
    readOnly: true,
    idempotent: true,
    sentences: [
      'search [the] [web|internet|online] for {query}',
      '(look up|google|find out about) {query}',
      'look {query} up',
      'who (is|was) {query}',
    ],
    handler: async ({ query, limit = DEFAULT_LIMIT }, invokeOptions?: Pick<InvokeOptions, 'signal'>) => {
      const request = options.fetch ?? globalThis.fetch
      const { url, headers } = splitCredentials(service.url(query))
      const response = await request(url, { headers, signal: invokeOptions?.signal ?? null })
      const findings = service.read(await readJson(service, response))
      return present({ query, source: service.name, limit }, findings)
    },
  })
}

/** fetch refuses a URL that contains a password, and prints it. */
function splitCredentials(address: URL): { url: URL; headers: Record<string, string> } {
  const url = new URL(address)
  const headers: Record<string, string> = { accept: 'application/json' }
  const { username, password } = url
  if (username || password) headers.authorization = `Basic ${basicCredentials(username, password)}`
  url.username = ''
  url.password = ''
  return { url, headers }
}

async function readJson(service: SearchService, response: Response): Promise<JsonObject> {
  const body = await response.text()
  if (response.status >= 400) throw statusError(service, response.status)
  const answer = parseJson(body)
  if (isRecord(answer)) return answer
  const start = body.trim() ? `'${body.trim().slice(0, 40)}…'` : 'nothing'
  throw new Error(
    `${service.name} returned ${start} instead of JSON; is ${new URL(response.url).origin} the right URL?`,
  )
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** `status` lets the executor distinguish a service that is down (502 to 504) from one that refuses. */
function statusError(service: SearchService, status: number): Error {
  const advice = service.advice(status)
  const message = `${service.name} answered with HTTP ${status}${advice ? `: ${advice}` : '; try again later'}`
  return Object.assign(new Error(message), { status })
}

function present(asked: { query: string; source: string; limit: number }, findings: Findings): SearchResult {
  const { query, source, limit } = asked
  const results = distinct(findings.hits).slice(0, limit)
  const found = { query, source, results }
  if (findings.answer !== undefined) return { ...found, answer: findings.answer }
  const [best] = results
  if (best) return { ...found, text: best.text ? `${best.title}: ${best.text}` : best.title }
  return { ...found, text: `Nothing was found for "${query}".${findings.note ? ` ${findings.note}` : ''}` }
}

/** Results with a URL, each URL once. */
function distinct(hits: readonly SearchHit[]): SearchHit[] {
  const byUrl = new Map<string, SearchHit>()
  for (const hit of hits) if (hit.url && !byUrl.has(hit.url)) byUrl.set(hit.url, hit)
  return [...byUrl.values()]
}

import type { ServerStatus } from 'toolpost/gateway'
import { messageOf } from '../text/message-of.ts'
import { has, listOf } from './checked.ts'
import { isRecord } from './guards.ts'
import { ApiError, requestJson } from './http.ts'

type Verb = 'restart' | 'stop' | 'start'

export async function changeServer(name: string, verb: Verb): Promise<ServerStatus> {
  const path = `/api/servers/${encodeURIComponent(name)}/${verb}`
  return (await requestJson<{ server: ServerStatus }>(path, { method: 'POST' })).server
}

export interface NewServer {
  name: string
  entry: Record<string, unknown>
  /** Added only if it works. */
  check: boolean
}

/** How the attempt to add a server ended. */
export type AddOutcome =
  | { kind: 'added'; file: string; tools: string[] }
  /** It could not be started: its stderr, and what to check. */
  | { kind: 'failed'; error: string; stderr: string; hint: string }
  | { kind: 'refused'; error: string }

/** Never rejects. */
export async function addServer(server: NewServer): Promise<AddOutcome> {
  try {
    const body = JSON.stringify(server)
    const { file, tools } = await requestJson<{ file: string; tools: unknown }>('/api/servers', {
      method: 'POST',
      body,
    })
    return { kind: 'added', file, tools: listOf(tools).filter(name => typeof name === 'string') }
  } catch (error) {
    const message = messageOf(error)
    const body = error instanceof ApiError && isRecord(error.body) ? error.body : {}
    if (!('stderr' in body)) return { kind: 'refused', error: message }
    return {
      kind: 'failed',
      error: message,
      stderr: String(body.stderr ?? ''),
      hint: String(body.hint ?? ''),
    }
  }
}

/** A resource or a prompt, as its server describes it. */
export interface Offer {
  name: string
  title?: string | undefined
  description?: string | undefined
  /** Of a resource; a template's contains variables. */
  uri?: string | undefined
  mimeType?: string | undefined
  arguments: PromptArgument[]
}

interface PromptArgument {
  name: string
  description?: string | undefined
  required?: boolean | undefined
}

export interface Offers {
  resources: Offer[]
  templates: Offer[]
  prompts: Offer[]
}

export async function listOffers(server: string): Promise<Offers> {
  const path = `/api/servers/${encodeURIComponent(server)}/offers`
  const { resources, templates, prompts } = await requestJson<Record<string, unknown>>(path)
  return { resources: offersIn(resources), templates: offersIn(templates), prompts: offersIn(prompts) }
}

export async function readResource(uri: string): Promise<unknown> {
  const body = JSON.stringify({ uri })
  return (await requestJson<{ contents: unknown }>('/api/resources/read', { method: 'POST', body })).contents
}

export async function getPrompt(name: string, args: Record<string, string>): Promise<unknown> {
  const body = JSON.stringify({ name, arguments: args })
  return (await requestJson<{ messages: unknown }>('/api/prompts/get', { method: 'POST', body })).messages
}

function offersIn(value: unknown): Offer[] {
  return listOf(value)
    .filter(one => has(one, { name: 'string' }))
    .map(({ name, title, description, uri, uriTemplate, mimeType, arguments: args }) => ({
      name: String(name),
      title: text(title),
      description: text(description),
      uri: text(uri) ?? text(uriTemplate),
      mimeType: text(mimeType),
      arguments: listOf(args).filter(one => has(one, { name: 'string' })) as unknown as PromptArgument[],
    }))
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

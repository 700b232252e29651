import { distance } from 'fastest-levenshtein'
import { type Device, fullName } from './device.ts'

/** A device, and the endpoint if the name asked for one ("Double Switch endpoint 2"). */
export interface Found {
  readonly device: Device
  readonly endpoint?: number
}

export type FindResult =
  | ({ readonly kind: 'found' } & Found)
  | { readonly kind: 'ambiguous'; readonly candidates: readonly Device[] }
  | { readonly kind: 'missing'; readonly suggestions: readonly Device[] }

const MAX_SUGGESTIONS = 3

/**
 * Finds a device by the name given, ignoring case, spaces, underscores and punctuation,
 * with or without its location. A near miss is only suggested, never acted on.
 */
export function findDevice(devices: readonly Device[], said: string): FindResult {
  const key = nameKey(said)
  if (!key) return { kind: 'missing', suggestions: [] }
  const matches = matching(devices, key)
  if (matches.length > 0) return oneOf(matches)
  const [, name, endpoint] = /^(.+?) (?:endpoint |channel |outlet )?(\d+)$/.exec(key) ?? []
  const owners = name ? matching(devices, name).filter(device => hasEndpoint(device, Number(endpoint))) : []
  if (owners.length > 0) return oneOf(owners, Number(endpoint))
  return { kind: 'missing', suggestions: suggest(devices, key) }
}

/** The device whose name contains all the given words ("front door" in "Front Door Sensor"), if exactly one does. */
export function findByPart(devices: readonly Device[], said: string): Device | undefined {
  const words = nameKey(said)
    .replace(/^(the|my) /, '')
    .split(' ')
  const [device, ...others] = devices.filter(({ name }) =>
    words.every(word => nameKey(name).split(' ').includes(word)),
  )
  return others.length === 0 ? device : undefined
}

function oneOf(matches: Device[], endpoint?: number): FindResult {
  const [device] = matches
  if (!device || matches.length > 1) return { kind: 'ambiguous', candidates: matches }
  return { kind: 'found', device, ...(endpoint !== undefined && { endpoint }) }
}

function matching(devices: readonly Device[], key: string): Device[] {
  const article = key.replace(/^(the|my) /, '')
  for (const wanted of new Set([key, article])) {
    const exact = devices.filter(device => nameKey(device.name) === wanted)
    if (exact.length > 0) return exact
    const located = devices.filter(device => locatedKeys(device).includes(wanted))
    if (located.length > 0) return located
  }
  return []
}

/** The other names a device goes by: with its location on either side, by its node id, by its path. */
function locatedKeys({ name, location, nodeId, path }: Device): string[] {
  const located = location
    ? [`${location} ${name}`, `${name} ${location}`, `${name} in ${location}`, `${name} in the ${location}`]
    : []
  const numbered = nodeId === undefined ? [] : [`node ${nodeId}`, `nodeID ${nodeId}`]
  return [path, ...located, ...numbered].map(nameKey)
}

function hasEndpoint(device: Device, endpoint: number): boolean {
  return device.values.some(value => value.endpoint === endpoint)
}

export function nameKey(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_/-]+/g, ' ')
    .replace(/[^\p{L}\p{N} ]/gu, '')
    .replace(/ +/g, ' ')
    .trim()
}

function suggest(devices: readonly Device[], key: string): Device[] {
  const scored = devices.map(device => ({
    device,
    score: closeness(key, nameKey(fullName(device)), nameKey(device.name)),
  }))
  return scored
    .filter(({ score }) => score > 0.5)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ device }) => device)
}

/** 0 to 1: the better of spelling similarity and the share of given words found in the name. */
function closeness(key: string, ...names: string[]): number {
  const scores = names.map(name => {
    const spelling = 1 - distance(key, name) / Math.max(key.length, name.length, 1)
    const said = key.split(' ')
    const shared = said.filter(word => name.split(' ').includes(word)).length / said.length
    return Math.max(spelling, shared * 0.9)
  })
  return Math.max(...scores)
}

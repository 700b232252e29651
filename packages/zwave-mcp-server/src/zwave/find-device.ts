import { distance } from 'fastest-levenshtein'
import { type Device, fullName } from './device.ts'

/** A device, and the endpoint if the name asked for one ("Double Switch endpoint 2"). */
export interface Found {
  readonly device: Device
  readonly endpoint?: number
}

/** The device that a name refers to, or the candidates if several have it, or those with a similar name. */
export type FindResult =
  | Found
  | { readonly candidates: readonly Device[] }
  | { readonly suggestions: readonly Device[] }

const MAX_SUGGESTIONS = 3
const MIN_SIMILARITY = 0.5

/**
 * Finds a device by the name given, ignoring case, spaces, underscores and punctuation,
 * with or without its location. A near miss is only suggested, never acted on.
 */
export function findDevice(devices: readonly Device[], said: string): FindResult {
  const key = nameKey(said)
  const matches = matching(devices, key)
  if (matches.length > 0) return oneOf(matches)
  const [, name, number] = /^(.+?) (?:endpoint |channel |outlet )?(\d+)$/.exec(key) ?? []
  const endpoint = Number(number)
  const owners = name ? matching(devices, name) : []
  const withEndpoint = owners.filter(({ values }) => values.some(value => value.endpoint === endpoint))
  if (withEndpoint.length > 0) return oneOf(withEndpoint, endpoint)
  return { suggestions: key ? suggest(devices, key) : [] }
}

/** The device whose name contains all the given words ("front door" in "Front Door Sensor"), if exactly one does. */
export function findByPart(devices: readonly Device[], said: string): Device | undefined {
  const words = withoutArticle(nameKey(said)).split(' ')
  const [device, ...others] = devices.filter(({ name }) =>
    words.every(word => nameKey(name).split(' ').includes(word)),
  )
  return others.length === 0 ? device : undefined
}

function oneOf(matches: readonly Device[], endpoint?: number): FindResult {
  const [device, ...others] = matches
  if (!device || others.length > 0) return { candidates: matches }
  return { device, ...(endpoint !== undefined && { endpoint }) }
}

function matching(devices: readonly Device[], key: string): Device[] {
  for (const wanted of new Set([key, withoutArticle(key)])) {
    const exact = devices.filter(device => nameKey(device.name) === wanted)
    if (exact.length > 0) return exact
    const located = devices.filter(device => otherNames(device).map(nameKey).includes(wanted))
    if (located.length > 0) return located
  }
  return []
}

/** The other names a device goes by: with its location on either side, by its node id, by its path. */
function otherNames({ name, location, nodeId, path }: Device): string[] {
  const located = location
    ? [`${location} ${name}`, `${name} ${location}`, `${name} in ${location}`, `${name} in the ${location}`]
    : []
  const numbered = nodeId === undefined ? [] : [`node ${nodeId}`, `nodeID ${nodeId}`]
  return [path, ...located, ...numbered]
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

export function withoutArticle(key: string): string {
  return key.replace(/^(the|my) /, '')
}

function suggest(devices: readonly Device[], key: string): Device[] {
  const score = (device: Device) =>
    Math.max(similarity(key, nameKey(fullName(device))), similarity(key, nameKey(device.name)))
  return devices
    .map(device => ({ device, score: score(device) }))
    .filter(({ score }) => score > MIN_SIMILARITY)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ device }) => device)
}

/** 0 to 1: the better of spelling similarity and the share of given words found in the name. */
function similarity(key: string, name: string): number {
  const spelling = 1 - distance(key, name) / Math.max(key.length, name.length, 1)
  const words = key.split(' ')
  const shared = words.filter(word => name.split(' ').includes(word)).length / words.length
  return Math.max(spelling, shared * 0.9)
}

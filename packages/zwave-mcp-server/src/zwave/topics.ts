/** Where a value lives on its device. `key` is the property key, which few values have. */
export interface ValueAddress {
  readonly commandClass: string
  readonly endpoint: number
  readonly property: string
  readonly key?: string
}

/** What a topic below the prefix is about. `node` is the device's own path: `[<location>/]<name>`. */
export type Topic =
  | { readonly kind: 'value'; readonly node: string; readonly address: ValueAddress }
  | { readonly kind: 'status'; readonly node: string }
  | { readonly kind: 'driver' }
  | { readonly kind: 'gateway'; readonly client: string; readonly about: 'status' | 'version' }
  | { readonly kind: 'api'; readonly client: string; readonly method: string }
  | { readonly kind: 'other' }

const CLIENTS = '_CLIENTS'
const EVENTS = '_EVENTS'
const OTHER: Topic = { kind: 'other' }

/** Reads a topic of Z-Wave JS UI ("named topics"). Commands (`…/set`) and what is not used here are `other`. */
export function parseTopic(prefix: string, topic: string): Topic {
  if (!topic.startsWith(`${prefix}/`)) return OTHER
  const parts = topic.slice(prefix.length + 1).split('/')
  if (parts.at(-1) === 'set' || parts[0] === EVENTS) return OTHER
  if (parts[0] === CLIENTS) return parseClientTopic(parts)
  if (parts.length === 2 && parts[0] === 'driver' && parts[1] === 'status') return { kind: 'driver' }
  return parseValueTopic(parts) ?? parseStatusTopic(parts) ?? OTHER
}

function parseClientTopic([, client, about, method]: string[]): Topic {
  if (!client || !about) return OTHER
  if (about === 'status' || about === 'version') return { kind: 'gateway', client, about }
  if (about === 'api' && method) return { kind: 'api', client, method }
  return OTHER
}

function parseValueTopic(parts: string[]): Topic | undefined {
  // Locations and names may hold slashes, so the endpoint is the landmark, not the position.
  const at = parts.findIndex((part, index) => index >= 2 && /^endpoint_\d+$/.test(part))
  const commandClass = parts[at - 1]
  const property = parts[at + 1]
  if (at < 0 || !commandClass || !property) return undefined
  const key = parts.slice(at + 2).join('/')
  const address = { commandClass, endpoint: Number(parts[at]?.slice('endpoint_'.length)), property }
  return {
    kind: 'value',
    node: parts.slice(0, at - 1).join('/'),
    address: key ? { ...address, key } : address,
  }
}

function parseStatusTopic(parts: string[]): Topic | undefined {
  if (parts.length < 2 || parts.at(-1) !== 'status') return undefined
  return { kind: 'status', node: parts.slice(0, -1).join('/') }
}

/** The path of a node as the gateway writes it: location first, the node id where there is no name. */
export function nodePath(node: {
  id: number
  name?: string | undefined
  location?: string | undefined
}): string {
  const name = sanitizeTopic(node.name ?? '') || `nodeID_${node.id}`
  const location = sanitizeTopic(node.location ?? '')
  return location ? `${location}/${name}` : name
}

/** The topic of a value, below the prefix's slash. */
export function valuePath(node: string, address: ValueAddress): string {
  const property = sanitizeTopic(removeSlash(address.property))
  const path = `${node}/${address.commandClass}/endpoint_${address.endpoint}/${property}`
  return address.key === undefined ? path : `${path}/${sanitizeTopic(removeSlash(address.key))}`
}

/** The topic of a gateway's MQTT API; the answer comes back on the same topic without `/set`. */
export function apiTopic(prefix: string, client: string, method: string): string {
  return `${prefix}/${CLIENTS}/${client}/api/${method}`
}

/** The topics on which a gateway says that it is there, and its version. */
export function gatewayTopic(prefix: string, client: string, about: 'status' | 'version'): string {
  return `${prefix}/${CLIENTS}/${client}/${about}`
}

/** As the gateway does it: blanks become `_`, what is neither letter, digit, `-`, `_` nor `/` goes. */
export function sanitizeTopic(text: string): string {
  return text.replace(/\s/g, '_').replace(/[^A-Za-z0-9\-_À-ÖØ-öø-ÿ/]/g, '')
}

function removeSlash(text: string): string {
  return text.replace(/\//g, '-')
}

/** One text per value of a device; equal addresses give equal keys. */
export function addressKey(address: ValueAddress): string {
  return valuePath('', address)
}

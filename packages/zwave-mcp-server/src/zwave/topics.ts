import { classOfTopic, commandClassName, commandClassNumber, topicOfClass } from './command-classes.ts'

/** Where a value lives on its device. `key` is the property key, which few values have. */
export interface ValueAddress {
  readonly commandClass: string
  readonly endpoint: number
  readonly property: string
  readonly key?: string
}

/** The gateway types of Z-Wave JS UI that have a topic for every value: "Named topics" and "ValueID topics". */
export type TopicStyle = 'named' | 'valueid'

/** What a topic below the prefix is about. `node` is the device's own path: `[<location>/]<name or number>`. */
export type Topic =
  | {
      readonly kind: 'value'
      readonly node: string
      readonly address: ValueAddress
    }
  | { readonly kind: 'status'; readonly node: string }
  | { readonly kind: 'driver' }
  | { readonly kind: 'gateway'; readonly client: string; readonly about: 'status' | 'version' }
  | { readonly kind: 'api'; readonly client: string; readonly method: string }
  | { readonly kind: 'event'; readonly client: string; readonly source: string; readonly event: string }
  | { readonly kind: 'other' }

const CLIENTS = '_CLIENTS'
const EVENTS = '_EVENTS'
const OTHER: Topic = { kind: 'other' }

/** Parses a Z-Wave JS UI topic. Commands (`…/set`) and topics not used here are `other`. */
export function parseTopic(prefix: string, topic: string): Topic {
  if (!topic.startsWith(`${prefix}/`)) return OTHER
  const parts = topic.slice(prefix.length + 1).split('/')
  if (parts.at(-1) === 'set') return OTHER
  if (parts[0] === CLIENTS) return parseClientTopic(parts)
  if (parts[0] === EVENTS) return parseEventTopic(parts)
  if (parts.length === 2 && parts[0] === 'driver' && parts[1] === 'status') return { kind: 'driver' }
  return parseNamedTopic(parts) ?? parseValueIdTopic(parts) ?? parseStatusTopic(parts) ?? OTHER
}

function parseClientTopic([, client, about, method]: string[]): Topic {
  if (!client || !about) return OTHER
  if (about === 'status' || about === 'version') return { kind: 'gateway', client, about }
  if (about === 'api' && method) return { kind: 'api', client, method }
  return OTHER
}

function parseEventTopic([, client, source, event]: string[]): Topic {
  return client && source && event ? { kind: 'event', client, source, event } : OTHER
}

function parseNamedTopic(parts: string[]): Topic | undefined {
  // Locations and names may contain slashes, so look for the endpoint, not a position.
  const at = parts.findIndex((part, index) => index >= 2 && /^endpoint_\d+$/.test(part))
  const commandClass = parts[at - 1]
  const property = parts[at + 1]
  if (at < 0 || !commandClass || !property) return undefined
  const key = parts.slice(at + 2).join('/')
  const endpoint = Number(parts[at]?.slice('endpoint_'.length))
  return {
    kind: 'value',
    node: parts.slice(0, at - 1).join('/'),
    address: { commandClass: classOfTopic(commandClass), endpoint, property, ...(key && { key }) },
  }
}

/** `[<location>/]<node>/<class>/<endpoint>/<property>[/<key>]`, with the command class as a number. */
function parseValueIdTopic(parts: string[]): Topic | undefined {
  const at = parts.findIndex((_, index) => index >= 1 && isValueId(parts.slice(index)))
  if (at < 0) return undefined
  const [commandClass, endpoint, property = '', key] = parts.slice(at)
  return {
    kind: 'value',
    node: parts.slice(0, at).join('/'),
    address: {
      commandClass: commandClassName(Number(commandClass)),
      endpoint: Number(endpoint),
      property,
      ...(key && { key }),
    },
  }
}

/** No property of the classes used here is numeric, so a numeric location or node cannot be mistaken for a class. */
function isValueId([commandClass = '', endpoint = '', property = '', ...keys]: string[]): boolean {
  const isKnown = /^\d+$/.test(commandClass) && !/^unknown/.test(commandClassName(Number(commandClass)))
  return isKnown && /^\d{1,3}$/.test(endpoint) && /\D/.test(property) && keys.length <= 1
}

function parseStatusTopic(parts: string[]): Topic | undefined {
  if (parts.length < 2 || parts.at(-1) !== 'status') return undefined
  return { kind: 'status', node: parts.slice(0, -1).join('/') }
}

export interface NodeName {
  readonly id: number
  readonly name?: string | undefined
  readonly location?: string | undefined
}

/** The path of a node as the gateway writes it: location first, node id if it has no name. */
export function nodePath(node: NodeName, style: TopicStyle = 'named'): string {
  const name = style === 'valueid' ? String(node.id) : sanitizeTopic(node.name ?? '') || `nodeID_${node.id}`
  const location = sanitizeTopic(node.location ?? '')
  return location ? `${location}/${name}` : name
}

/** The topic of a value, below the prefix. */
export function valuePath(node: string, address: ValueAddress, style: TopicStyle = 'named'): string {
  const { commandClass, endpoint, property, key } = address
  const place =
    style === 'named'
      ? `${topicOfClass(commandClass)}/endpoint_${endpoint}`
      : `${commandClassNumber(commandClass)}/${endpoint}`
  const path = `${node}/${place}/${topicPart(property)}`
  return key === undefined ? path : `${path}/${topicPart(key)}`
}

/** The topic of a gateway's MQTT API; the answer comes back on the same topic without `/set`. */
export function apiTopic(prefix: string, client: string, method: string): string {
  return `${prefix}/${CLIENTS}/${client}/api/${method}`
}

/** The topics on which a gateway publishes its status and version. */
export function gatewayTopic(prefix: string, client: string, about: 'status' | 'version'): string {
  return `${prefix}/${CLIENTS}/${client}/${about}`
}

/** As the gateway does it: whitespace becomes `_`; anything but letters, digits, `-`, `_` and `/` is dropped. */
export function sanitizeTopic(text: string): string {
  return text.replace(/\s/g, '_').replace(/[^A-Za-z0-9\-_À-ÖØ-öø-ÿ/]/g, '')
}

/** A property or key as it appears in a topic. */
export function topicPart(text: string): string {
  return sanitizeTopic(text.replaceAll('/', '-'))
}

/** A key that is unique per value of a device; equal addresses have equal keys. */
export function addressKey({ commandClass, endpoint, property, key }: ValueAddress): string {
  return [commandClass, endpoint, topicPart(property), ...(key === undefined ? [] : [topicPart(key)])].join(
    '/',
  )
}

import { commandClass, commandClassName, commandClassNumber, type ValueAddress } from './values.ts'

/** The gateway types of Z-Wave JS UI that have a topic for every value: "Named topics" and "ValueID topics". */
export type TopicStyle = 'named' | 'valueid'

/** What a topic below the prefix is about. `node` is the device's own path: `[<location>/]<name or number>`. */
export type Topic =
  | { readonly kind: 'value'; readonly node: string; readonly address: ValueAddress }
  | { readonly kind: 'status'; readonly node: string }
  | { readonly kind: 'driver' }
  | { readonly kind: 'gateway'; readonly client: string; readonly about: 'status' | 'version' }
  | { readonly kind: 'api'; readonly client: string; readonly method: string }
  | { readonly kind: 'other' }

export type NodeName = { nodeId?: number | undefined; name: string; location?: string | undefined }

const OTHER: Topic = { kind: 'other' }

/** Parses a Z-Wave JS UI topic of any gateway type. Commands (`…/set`) and topics not used here are `other`. */
export function parseTopic(prefix: string, topic: string): Topic {
  if (!topic.startsWith(`${prefix}/`)) return OTHER
  const parts = topic.slice(prefix.length + 1).split('/')
  const [first, client, about, method] = parts
  const last = parts.at(-1)
  if (last === 'set') return OTHER
  if (first === '_CLIENTS') {
    if (client && (about === 'status' || about === 'version')) return { kind: 'gateway', client, about }
    return client && about === 'api' && method ? { kind: 'api', client, method } : OTHER
  }
  if (first === 'driver' && last === 'status' && parts.length === 2) return { kind: 'driver' }
  const isStatus = last === 'status' && parts.length > 1
  return parseValueTopic(parts) ?? (isStatus ? { kind: 'status', node: parts.slice(0, -1).join('/') } : OTHER)
}

/**
 * `[<location>/]<node>/<class>/endpoint_<n>/<property>[/<key>]`, or `…/<class number>/<n>/<property>[/<key>]`. Locations and
 * names may contain slashes and numbers, so the class is where a known one, its endpoint and a property meet.
 */
function parseValueTopic(parts: string[]): Topic | undefined {
  for (let at = 1; at + 2 < parts.length; at++) {
    const [className = '', place = '', property = '', ...keys] = parts.slice(at)
    const [, named, numbered] = /^(?:endpoint_(\d+)|(\d{1,3}))$/.exec(place) ?? []
    const isNumber = /^\d+$/.test(className)
    const number = isNumber ? Number(className) : commandClassNumber(className)
    const name = number === undefined ? className : commandClassName(number)
    // No property of the known classes is numeric.
    const isValueId = numbered && isNumber && commandClass(name) && /\D/.test(property) && keys.length <= 1
    if (!className || !property || !(named || isValueId)) continue
    const address = { commandClass: name, endpoint: Number(named ?? numbered), property }
    const key = keys.join('/')
    const node = parts.slice(0, at).join('/')
    return { kind: 'value', node, address: key ? { ...address, key } : address }
  }
  return undefined
}

/** The path of a node as the gateway writes it: location first, node id if it has no name. */
export function nodePath(node: NodeName, style: TopicStyle = 'named'): string {
  const name = style === 'valueid' ? String(node.nodeId) : sanitizeTopic(node.name) || `nodeID_${node.nodeId}`
  const location = sanitizeTopic(node.location ?? '')
  return location ? `${location}/${name}` : name
}

/** The topic of a value, below the prefix. */
export function valuePath(node: string, address: ValueAddress, style: TopicStyle = 'named'): string {
  const { commandClass: name, endpoint, property, key } = address
  const named = `${commandClass(name)?.topic ?? name}/endpoint_${endpoint}`
  const place = style === 'named' ? named : `${commandClassNumber(name)}/${endpoint}`
  return [node, place, topicPart(property), ...(key === undefined ? [] : [topicPart(key)])].join('/')
}

/** A topic of a gateway's own: its status and version, and its MQTT API, which answers without the final `/set`. */
export function clientTopic(prefix: string, client: string, about: string): string {
  return `${prefix}/_CLIENTS/${client}/${about}`
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
export function addressKey({ commandClass: name, endpoint, property, key }: ValueAddress): string {
  return [name, endpoint, topicPart(property), ...(key === undefined ? [] : [topicPart(key)])].join('/')
}

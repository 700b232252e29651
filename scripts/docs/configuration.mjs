// docs/reference/configuration.md, from the JSON Schema of toolpost.json.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../packing/packages.mjs'
import { cell } from './markdown.mjs'

export function configurationReference() {
  const schema = JSON.parse(readFileSync(join(root, 'packages/toolpost/toolpost.schema.json'), 'utf8'))
  const sections = Object.entries(schema.properties)
    .filter(([name]) => name !== '$schema')
    .map(([name, value]) => section(name, value, schema.definitions))
  const definitions = Object.entries(schema.definitions).map(([name, value]) =>
    section(title(name), value, schema.definitions, ''),
  )
  const intro =
    'Every key of `toolpost.json`. [Configuration](../configuration.md) explains how they work together; editors show the same with\n' +
    '`"$schema": "./node_modules/toolpost/toolpost.schema.json"`.'
  return ['# Configuration, key by key', intro, ...sections, '## Shared parts', ...definitions].join('\n\n')
}

function section(name, value, definitions, prefix = name) {
  const rows = rowsOf(value, prefix, definitions)
  const table = rows.length > 0 ? `\n\n| key | type | |\n|---|---|---|\n${rows.join('\n')}` : ''
  return `### ${name}\n\n${typeOf(value)}. ${value.description ?? ''}`.trimEnd() + table
}

/** The keys below a part, down to shared definitions. */
function rowsOf(value, path, definitions) {
  const parts = partsOf(value)
  return parts.flatMap(({ key, schema }) => {
    const name = [path, key].filter(Boolean).join('.')
    const row = `| \`${name}\` | ${cell(typeOf(schema))} | ${cell(said(schema))} |`
    return [row, ...rowsOf(schema, name, definitions)]
  })
}

function partsOf({ properties = {}, additionalProperties, items, anyOf = [], oneOf = [] }) {
  const hasMore = typeof additionalProperties === 'object' && additionalProperties
  const more = hasMore ? [{ key: '<name>', schema: additionalProperties }] : []
  const inner = items?.properties ? partsOf(items) : []
  const listed = inner.map(part => ({ ...part, key: `[].${part.key}` }))
  const own = Object.entries(properties).map(([key, schema]) => ({ key, schema }))
  return [...own, ...more, ...listed, ...[...anyOf, ...oneOf].flatMap(partsOf)]
}

function typeOf(schema) {
  if (schema === true || schema === undefined) return 'anything'
  if (schema.$ref) return linkTo(title(schema.$ref.split('/').at(-1)))
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map(value => `\`${JSON.stringify(value)}\``).join(', ')
  if (schema.anyOf || schema.oneOf)
    return [...new Set((schema.anyOf ?? schema.oneOf).map(typeOf))].join(' or ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`
  return [schema.type ?? 'anything'].flat().join(' or ')
}

function said({ description = '', default: standard, minimum, maximum }) {
  const facts = [
    standard !== undefined && `default \`${JSON.stringify(standard)}\``,
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
  ].filter(Boolean)
  return [description, facts.length > 0 && `(${facts.join(', ')})`].filter(Boolean).join(' ')
}

function linkTo(heading) {
  return `[${heading}](#${heading.toLowerCase().replaceAll(' ', '-')})`
}

function title(name) {
  return `a ${name}`
}

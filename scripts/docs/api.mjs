// docs/reference/api.md: every public name and its comment, from the compiler's declaration files.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { publicPackages } from '../packing/packages.mjs'
import { cell } from './markdown.mjs'

export function apiReference() {
  const parts = publicEntries().map(({ name, file }) => entry(name, file))
  const intro =
    'Every public name. Editors show the full types with their comments; names that are not listed here may change at any time.'
  return ['# The API, name by name', intro, ...parts].join('\n\n')
}

/** In the order of their folders. */
function publicEntries() {
  const packages = publicPackages().sort((one, other) => (one.folder < other.folder ? -1 : 1))
  return packages.flatMap(({ folder, manifest: { name, exports = {} } }) =>
    Object.entries(exports)
      .filter(([, { types }]) => types)
      .map(([path, { types }]) => ({ name: name + path.slice(1), file: join(folder, types) })),
  )
}

function entry(name, file) {
  const names = namesFrom(file, /export/).sort((one, other) => one.name.localeCompare(other.name, 'en'))
  if (names.length === 0) return `## ${name}\n\nNo names for programs.`
  const found = names.map(each => described(each, file))
  const [values, types] = [false, true].map(isType => found.filter(each => each.isType === isType))
  const rows = values.map(each => `| \`${each.name}\` | ${cell(each.sentence)} |`).join('\n')
  const list = types.map(each => `\`${each.name}\``).join(', ')
  const parts = [`## ${name}`, rows && `| name | |\n|---|---|\n${rows}`, list && `Types: ${list}.`]
  return parts.filter(Boolean).join('\n\n')
}

/** `export { A, type B } from './file.ts'` in an index. */
function namesFrom(file, keyword) {
  const lists = new RegExp(`^${keyword.source} (?:type )?\\{([^}]*)\\}(?: from '([^']+)')?`, 'gm')
  return [...readFileSync(file, 'utf8').matchAll(lists)].flatMap(([, list, from]) =>
    list
      .split(',')
      .map(item => item.trim().replace(/^type /, ''))
      .filter(Boolean)
      .map(item => {
        const [original, , name = original] = item.split(' ')
        return { name, original, from: from && declarationFile(from, file) }
      }),
  )
}

/** The declaration file that `from` in `file` refers to: a relative one, or one of our packages. */
function declarationFile(from, file) {
  if (from.startsWith('.')) return join(dirname(file), from.replace(/\.ts$/, '.d.ts'))
  const resolved = createRequire(file).resolve(from)
  return resolved.replace(/\.js$/, '.d.ts')
}

function described({ name, original, from }, index) {
  const found = declaration(original, from ?? index)
  if (!found) throw new Error(`${name} of ${index} was not found in ${from}`)
  const [sentence] = found.comment.match(/^.*?\.(?= |$)/) ?? [found.comment]
  return { name, sentence, isType: found.kind === 'interface' || found.kind === 'type' }
}

/** The kind of a name and the comment on it, from a file or the file it is re-exported from. */
function declaration(name, file) {
  const lines = readFileSync(file, 'utf8').split('\n')
  const starts = new RegExp(
    `^export (?:declare )?(?:abstract )?(class|interface|function|const|type|enum|let) ${name}\\b`,
  )
  const at = lines.findIndex(line => starts.test(line))
  if (at < 0) return passedOn(name, file)
  return { kind: lines[at].match(starts)[1], comment: commentAbove(lines, at) }
}

function passedOn(name, file) {
  const again = namesFrom(file, /(?:import|export)/).find(one => one.name === name && one.from)
  return again && declaration(again.original, again.from)
}

function commentAbove(lines, at) {
  if (!lines[at - 1]?.trim().endsWith('*/')) return ''
  let start = at - 1
  while (start > 0 && !lines[start].trim().startsWith('/**')) start--
  return lines
    .slice(start, at)
    .map(line => line.trim().replace(/^\/\*\*\s?|\s?\*\/$|^\* ?/g, ''))
    .join(' ')
    .trim()
}
